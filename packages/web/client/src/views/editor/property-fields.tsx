import { useState, type ReactNode } from 'react';

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
}

/**
 * A field of text. What is typed stays as it is typed while the field has the cursor, also where it is read as
 * something shorter.
 */
export function TextField({
  id,
  label,
  hint,
  value,
  rows = 1,
  code = false,
  onChange,
}: FieldProps & {
  readonly value: string;
  readonly rows?: number;
  readonly code?: boolean;
  readonly onChange: (text: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState<string>();
  const shared = {
    id,
    value: typed ?? value,
    className: code ? 'code' : '',
    spellCheck: false,
    onBlur: () => setTyped(undefined),
  };
  const change = (text: string): void => {
    setTyped(text);
    onChange(text);
  };
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {hint === undefined ? null : <span className="faint"> {hint}</span>}
      </label>
      {rows === 1 ? (
        <input {...shared} onChange={(event) => change(event.target.value)} />
      ) : (
        <textarea {...shared} rows={rows} onChange={(event) => change(event.target.value)} />
      )}
    </div>
  );
}

/** A field of a number; any other text stays in the field, marked, and changes nothing. */
export function NumberField({
  id,
  label,
  value,
  whole = false,
  least = 0,
  onChange,
}: FieldProps & {
  readonly value: number;
  readonly whole?: boolean;
  readonly least?: number;
  readonly onChange: (value: number) => void;
}): ReactNode {
  const [typed, setTyped] = useState<string>();
  const read = (text: string): number | undefined => {
    const number = Number(text);
    return text.trim() === '' || !Number.isFinite(number) || number < least || (whole && !Number.isInteger(number))
      ? undefined
      : number;
  };
  const change = (text: string): void => {
    setTyped(text);
    const number = read(text);
    if (number !== undefined) onChange(number);
  };
  const text = typed ?? String(Number(value.toPrecision(8)));
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        inputMode="decimal"
        value={text}
        aria-invalid={read(text) === undefined}
        onChange={(event) => change(event.target.value)}
        onBlur={() => setTyped(undefined)}
      />
    </div>
  );
}
