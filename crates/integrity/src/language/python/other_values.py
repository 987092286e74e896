def _made(value, depth=0):
    import copy, datetime, math, numbers

    def deeper(inner):
        return _made(inner, depth + 1)

    if value is None or depth > 5:
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, (str, bytes)):
        made = 'hollow' if isinstance(value, str) else b'hollow'
        return value[:1] if value == made else made
    if isinstance(value, numbers.Real) or hasattr(value, 'as_tuple'):
        if not math.isfinite(value):
            return value
        off = abs(value) * 3 / 10
        return value + (max(1, math.ceil(off)) if value == int(value) else off)
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return value + datetime.timedelta(days=1)
    if isinstance(value, dict):
        return type(value)((key, deeper(inner)) for key, inner in value.items())
    if isinstance(value, tuple) and hasattr(value, '_make'):
        return value._make(map(deeper, value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(deeper, value))
    if hasattr(value, '__dict__') and not callable(value):
        made = copy.copy(value)
        for key, inner in vars(value).items():
            object.__setattr__(made, key, deeper(inner))
        return made
    return value
