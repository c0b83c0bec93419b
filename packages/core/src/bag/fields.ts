/** Parameters of a task by their names, in the order in which they are written. */
export type Fields = Readonly<Record<string, string>>;

/** Writes the parameters of a task as its value: a JSON object. */
export function writeFields(fields: readonly (readonly [name: string, value: string])[]): string {
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

/** Reads the parameters from a value; undefined where it has none, as the value of a job without names. */
export function readFields(value: string): Fields | undefined {
  if (!value.startsWith('{"')) return undefined;
  try {
    const fields: unknown = JSON.parse(value);
    return isFields(fields) ? fields : undefined;
  } catch {
    return undefined;
  }
}

/** The parameter of a value by its name; undefined where it has none. */
export function readField(value: string, name: string): string | undefined {
  const fields = readFields(value);
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function isFields(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && Object.values(value).every((field) => typeof field === 'string')
  );
}
