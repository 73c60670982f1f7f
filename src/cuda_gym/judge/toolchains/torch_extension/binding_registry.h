// How a file under kernels/ makes functions known to Python, without a list that all files share.
//
//     static void add_scale(pybind11::module& m) { m.def("scale", &scale); }
//     REGISTER_BINDING(scale, add_scale);
//
// The names are those of the published work folder. They are noted while the library is loaded, and
// added to the module when Python asks for it.

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

class BindingRegistry {
public:
    using BindingFunction = std::function<void(pybind11::module&)>;

    static BindingRegistry& getInstance() {
        static BindingRegistry only;
        return only;
    }

    void registerBinding(const std::string& name, BindingFunction add) {
        noted_.emplace_back(name, std::move(add));
    }

    void applyBindings(pybind11::module& module) const {
        for (const auto& [name, add] : noted_) add(module);
    }

private:
    BindingRegistry() = default;
    std::vector<std::pair<std::string, BindingFunction>> noted_;
};

class BindingRegistrar {
public:
    BindingRegistrar(const char* name, BindingRegistry::BindingFunction add) {
        BindingRegistry::getInstance().registerBinding(name, std::move(add));
    }
};

#define REGISTER_BINDING(name, add) static BindingRegistrar binding_of_##name(#name, add)
