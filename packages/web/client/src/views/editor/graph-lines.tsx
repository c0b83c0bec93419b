import { memo, type ReactNode } from 'react';
import { ViewportPortal } from '@xyflow/react';
import type { EdgeLook } from '../../model/workflow/edge-lines.ts';
import { getInk, taskInks } from '../../model/palette.ts';
import { sayMany } from '../../model/words.ts';

const looks: readonly EdgeLook[] = ['plain', 'critical', 'selected'];

/**
 * All edges in sight, and boxes where they are too small to be read, below what can be pressed: a handful of elements
 * for thousands of tasks.
 */
export const GraphLines = memo(function GraphLines({
  edges,
  boxes,
}: {
  readonly edges: Readonly<Record<EdgeLook, string>> & { readonly count: number };
  readonly boxes: ReadonlyMap<string, string>;
}): ReactNode {
  return (
    <ViewportPortal>
      <svg className="graph-lines" role="img" aria-label={`${sayMany(edges.count, 'edge')} in sight`}>
        {looks.map((look) =>
          edges[look] === '' ? null : <path key={look} className={`edge-lines ${look}`} d={edges[look]} />,
        )}
        {[...boxes].map(([look, path]) =>
          look === 'plain' || look === 'critical' ? (
            <path key={look} className={`box-lines ${look}`} d={path} />
          ) : (
            <path key={look} className="box-lines" style={{ fill: getInk(taskInks, look).colour }} d={path} />
          ),
        )}
      </svg>
    </ViewportPortal>
  );
});
