def _otherwise(names):
    import functools, inspect, types

    def wrapped(function):
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            return function
        if inspect.iscoroutinefunction(function):

            async def made(*given, **named):
                return _made(await function(*given, **named))
        else:

            def made(*given, **named):
                return _made(function(*given, **named))

        return functools.wraps(function)(made)

    for name, value in list(globals().items()):
        if getattr(value, '__module__', None) != __name__:
            continue
        if isinstance(value, types.FunctionType) and value.__name__ in names:
            globals()[name] = wrapped(value)
        for key, part in list(vars(value).items()) if isinstance(value, type) else []:
            if key not in names or key.startswith('__'):
                continue
            if isinstance(part, types.FunctionType):
                setattr(value, key, wrapped(part))
            elif isinstance(part, (staticmethod, classmethod)):
                setattr(value, key, type(part)(wrapped(part.__func__)))
            elif isinstance(part, property) and part.fget:
                setattr(value, key, property(wrapped(part.fget), part.fset, part.fdel))
