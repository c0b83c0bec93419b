import type { ReactNode } from 'react';
import { sayCount } from '../model/words.ts';
import type { Ink } from '../model/palette.ts';

/** A small field in the colour and pattern of an ink. */
export function Swatch({ ink }: { readonly ink: Ink }): ReactNode {
  return <i className={`swatch ${ink.pattern}`} style={{ backgroundColor: ink.colour }} aria-hidden="true" />;
}

/** What the inks of a picture mean, with how many there are of each where that is known. */
export function Legend({
  inks,
  counts,
}: {
  readonly inks: readonly Ink[];
  readonly counts?: readonly (number | string)[];
}): ReactNode {
  return (
    <ul className="legend">
      {inks.map((ink, index) => {
        const count = counts?.[index];
        return (
          <li key={ink.title}>
            <Swatch ink={ink} />
            {ink.title}
            {count === undefined ? null : <b>{typeof count === 'number' ? sayCount(count) : count}</b>}
          </li>
        );
      })}
    </ul>
  );
}

/**
 * A bar of parts that add up, each in its ink; parts of nothing are left out, and others are never too thin to be seen.
 */
export function StackedBar({
  parts,
  label,
}: {
  readonly parts: readonly { readonly ink: Ink; readonly value: number }[];
  readonly label: string;
}): ReactNode {
  const shown = parts.filter(({ value }) => value > 0);
  return (
    <span className="stacked" role="img" aria-label={label}>
      {shown.map(({ ink, value }) => (
        <i
          key={ink.title}
          className={ink.pattern}
          style={{ backgroundColor: ink.colour, flexGrow: value }}
          title={`${ink.title}: ${sayCount(value)}`}
        />
      ))}
    </span>
  );
}
