import Type, { type Static } from 'typebox';
import { Count, InstantMs, orNull } from './parts.ts';

/** How the grid was, as columns of equal length, the oldest first. */
export const History = Type.Object({
  every_ms: Type.Integer({ description: 'Between two samples, about; where more lies between two nobody looked.' }),
  at_unix_ms: Type.Array(InstantMs),
  finished_per_s: Type.Array(orNull(Type.Number()), { description: 'Null while the broker was away.' }),
  processors: Type.Array(Count),
  sites: Type.Array(
    Type.Object({
      provider_id: Type.String(),
      busy: Type.Array(orNull(Count), { description: 'Processors that ran something.' }),
    }),
  ),
});
export type History = Static<typeof History>;
