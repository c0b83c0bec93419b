import { MutiraoError } from '@mutirao/api/errors';
import type { OutputContent, OutputSpec } from '@mutirao/core/messages';
import type { ReplicaId, TaskIndex, UserId } from '@mutirao/core/shared';

import type { Place } from '../staging/variables.ts';

/** A replica's result, and what bringing it home needs to know of its task. */
export interface ResultOrder extends Place {
  readonly replicaId: ReplicaId;
  /** Whose job it is. */
  readonly userId: UserId;
  readonly taskIndex: TaskIndex;
  readonly value: string;
  readonly homeDirectory: string;
  /** Where outputs are gathered; left out, each is a file of its own. */
  readonly gatherFolder?: string;
  /** Each `outputIndex` is a position in `outputSpecs`, but in results that an earlier release took in. */
  readonly outputs: readonly OutputContent[];
  readonly outputSpecs: readonly OutputSpec[];
  readonly check: string;
}

/** What was asked of an output. @throws {MutiraoError} MUT_BAD_REPORT for one that nobody asked for. */
export function findSpec(
  { outputSpecs, machineId }: Pick<ResultOrder, 'outputSpecs' | 'machineId'>,
  { outputIndex }: Pick<OutputContent, 'outputIndex'>,
): OutputSpec {
  const spec = outputSpecs[outputIndex];
  if (spec === undefined)
    throw new MutiraoError(
      'MUT_BAD_REPORT',
      `${machineId} brings output ${outputIndex}, and ${outputSpecs.length} were asked for`,
    );
  return spec;
}
