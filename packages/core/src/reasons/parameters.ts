import type { Cause } from './reasons.ts';

/** The type of a parameter of a reason; with `?` at its end where it may be left out. */
export type ParameterKind =
  | 'number'
  | 'number?'
  | 'text'
  | 'text?'
  | 'flag'
  | 'texts'
  /** Another reason, or the words of a person or of another program. */
  | 'cause'
  /** One of these words. */
  | readonly string[];

/** The parameters of each code, by name. The last word of a name is its unit: `walltimeMs`, `processors`, `percent`. */
export type ReasonTable = Readonly<Record<string, Readonly<Record<string, ParameterKind>>>>;

type GetValue<Kind> = Kind extends 'number' | 'number?'
  ? number
  : Kind extends 'text' | 'text?'
    ? string
    : Kind extends 'flag'
      ? boolean
      : Kind extends 'texts'
        ? readonly string[]
        : Kind extends 'cause'
          ? Cause
          : Kind extends readonly (infer Word)[]
            ? Word
            : never;

/** The reason of one code, by its row of the table. */
export type ReasonOfRow<Code, Row> = { readonly code: Code } & {
  readonly [Name in keyof Row as Row[Name] extends `${string}?` ? never : Name]: GetValue<Row[Name]>;
} & { readonly [Name in keyof Row as Row[Name] extends `${string}?` ? Name : never]?: GetValue<Row[Name]> };
