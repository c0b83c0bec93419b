import type { ReactNode } from 'react';
import type { Tip } from './tip-state.ts';

/** Shows a tip over the picture that it belongs to; to one side of the pointer, so that it never leaves the picture. */
export function TipBox({ tip, width }: { readonly tip: Tip | undefined; readonly width: number }): ReactNode {
  if (tip === undefined) return null;
  const isRight = tip.x > width / 2;
  return (
    <div
      className="tip"
      style={{
        top: `${tip.y + 12}px`,
        ...(isRight ? { right: `${width - tip.x + 10}px` } : { left: `${tip.x + 10}px` }),
      }}
    >
      {tip.text}
    </div>
  );
}
