import type { ExplainRequest } from '@mutirao/api/broker';

import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { tell } from '../../output/tell.ts';

/** Asks the broker why, and prints its answer: one sentence, then the details below it. */
export async function reportExplanation(
  context: CommandContext,
  subject: NonNullable<ExplainRequest['subject']>,
): Promise<ExitStatus> {
  const { summary, details } = await (await context.broker()).explain({ subject });
  tell(context.output, {
    json: () => ({ summary, details }),
    table: () => [summary, ...details.map((detail) => `  - ${detail}`)],
    quiet: () => [summary],
  });
  return 0;
}
