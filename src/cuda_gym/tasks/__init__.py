"""What is to be computed: suites, single files, and where to find them."""
