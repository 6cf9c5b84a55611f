"""Privacy bounds, one file an idea; every `Bound` defined at the top of a module here is registered."""
