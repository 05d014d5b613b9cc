// Promises nobody has to look at.

type Method<This, Arguments extends unknown[], Result> = (this: This, ...args: Arguments) => Promise<Result>;

/**
 * A method whose promise may be left alone: a program that does not look at it is not ended by its rejection. When a connection
 * is lost for good, every call that waits fails, and a program seldom awaits all of them.
 */
export function quiet<This, Arguments extends unknown[], Result>(
  method: Method<This, Arguments, Result>,
): Method<This, Arguments, Result> {
  return function (this: This, ...args: Arguments): Promise<Result> {
    return quietly(method.apply(this, args));
  };
}

/** The same for a promise. */
export function quietly<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => undefined);
  return promise;
}
