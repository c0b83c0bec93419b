import type { ReactNode } from 'react';
import { getInk, statusInks } from '../model/palette.ts';

/** A status as a word with its mark and colour. */
export function StatusBadge({ status }: { readonly status: string }): ReactNode {
  const ink = getInk(statusInks, status);
  return (
    <span className="badge">
      <i style={{ color: ink.colour }} aria-hidden="true">
        {ink.mark}
      </i>
      {status}
    </span>
  );
}
