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
