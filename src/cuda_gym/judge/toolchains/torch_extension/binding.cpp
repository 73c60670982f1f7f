// The module that Python imports: whatever the files under kernels/ have registered.

#include "binding_registry.h"

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
    BindingRegistry::getInstance().applyBindings(module);
}
