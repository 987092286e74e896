function __made(value) {
  const waits = value !== undefined && value !== null && typeof value.then === 'function';
  return waits ? value.then(() => undefined) : undefined;
}
