function __made(value, depth = 0) {
  const deeper = (inner) => __made(inner, depth + 1);
  if (value === undefined || value === null || depth > 5) return value;
  if (typeof value === 'bigint') return value + 1n;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return value === 'hollow' ? 'empty' : 'hollow';
  if (typeof value === 'number') {
    const off = Math.abs(value) * 0.3;
    return Number.isInteger(value) ? value + Math.max(1, Math.ceil(off)) : value + off;
  }
  if (typeof value !== 'object') return value;
  if (typeof value.then === 'function') return value.then(deeper);
  if (Array.isArray(value)) return value.slice(0, 1000).map(deeper);
  if (value instanceof Date) return new Date(Number(value) + 86400000);
  if (value instanceof Set) return new Set([...value].map(deeper));
  if (value instanceof Map) return new Map([...value].map((pair) => [pair[0], deeper(pair[1])]));
  const made = Object.create(Object.getPrototypeOf(value));
  for (const key of Object.keys(value)) made[key] = deeper(value[key]);
  return made;
}
