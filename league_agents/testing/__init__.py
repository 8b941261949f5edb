"""Contract suites, fault injectors and test texts that users of the package can import."""
