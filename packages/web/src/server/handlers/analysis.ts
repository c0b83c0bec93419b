import { drawGantt } from '../analysis/gantt.ts';
import { groupFailures, withSamples } from '../analysis/failures.ts';
import type { JobArchive } from '../analysis/job-archive.ts';
import { drawGraph, getShape, type JobShape } from '../analysis/job-graph.ts';
import { measureTimes } from '../analysis/task-times.ts';
import { ledgerDocument } from '../documents/ledger.ts';
import type { GatewayParts } from '../grid-calls.ts';
import type { JobSpecs } from '../job-specs.ts';
import type { Readings } from '../readings.ts';
import type { Handlers } from '../requests.ts';

const shapesKept = 4;

/** What the handlers of the views after share. */
export interface AnalysisParts {
  readonly archive: JobArchive;
  readonly readings: Readings;
  readonly specs: JobSpecs;
}

/** What ran of a job: where, how long, what failed and why, what it cost. */
export function analysisHandlers(
  parts: GatewayParts,
  { archive, readings, specs }: AnalysisParts,
): Handlers<'getGantt' | 'getTaskTimes' | 'getFailures' | 'getJobLedger' | 'getJobGraph' | 'getLedger'> {
  const shapes = new Map<number, JobShape>();
  return {
    getGantt: async ({ params, query }) =>
      drawGantt(
        await archive.look(params.job_id),
        { from: query.from_unix_ms, until: query.until_unix_ms, binCount: query.bin_count, barsMax: query.bars_max },
        parts.clock.now(),
      ),
    getTaskTimes: async ({ params }) => measureTimes(await archive.look(params.job_id), parts.clock.now()),
    getFailures: async ({ params }) =>
      withSamples(parts.grid.broker(), groupFailures(await archive.look(params.job_id))),
    getJobLedger: async ({ params }) => ledgerDocument((await readings.ledger(params.job_id)).rows, params.job_id),
    getLedger: async () => ledgerDocument((await readings.ledger(0)).rows, undefined),
    getJobGraph: async ({ params }) => {
      const records = await archive.look(params.job_id);
      const shape = shapes.get(params.job_id) ?? getShape(await specs.fetch(params.job_id));
      shapes.set(params.job_id, shape);
      const [oldest] = shapes.keys();
      if (shapes.size > shapesKept && oldest !== undefined) shapes.delete(oldest);
      return drawGraph(shape, records);
    },
  };
}
