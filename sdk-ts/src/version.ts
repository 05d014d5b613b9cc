// The version of this package, which a client says of itself unless told otherwise. A test holds it against package.json.

/** The version of `@ropewalk/sdk`. */
export const version = "0.1.0";
