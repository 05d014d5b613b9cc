// JSON Schema as a value, and the type of what it describes as far as the compiler can tell.

/** A JSON Schema of an object, written by hand. */
export interface JsonObjectSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/**
 * The type that a literal JSON Schema describes: `type`, `properties`, `required`, `items`, `enum` and `const` are read, of
 * anything else it is `unknown`.
 */
export type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: infer Type }
      ? FromType<Schema, Type>
      : unknown;

type FromType<Schema, Type> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? (Schema extends { readonly items: infer Items } ? FromJsonSchema<Items> : unknown)[]
          : Type extends "object"
            ? FromProperties<Schema>
            : unknown;

type FromProperties<Schema> = Schema extends { readonly properties: infer Properties }
  ? Simplified<
      { [Key in keyof Properties as Key extends Required<Schema> ? Key : never]: FromJsonSchema<Properties[Key]> } & {
        [Key in keyof Properties as Key extends Required<Schema> ? never : Key]?: FromJsonSchema<Properties[Key]>;
      }
    >
  : Record<string, unknown>;

type Required<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type Simplified<Object> = { -readonly [Key in keyof Object]: Object[Key] };
