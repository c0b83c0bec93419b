import type { Command } from 'commander';

import { parseDuration } from '@mutirao/formats';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { heuristicJson } from '../../json/documents.ts';
import { printResult } from '../../output/print-result.ts';
import { resolveProviderAddress } from '../../selectors.ts';
import { describeTaskTime } from './show.ts';

interface HeuristicOptions {
  readonly defaultTaskTime?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'name or address of the provider')
    .argument('[heuristic]', 'static, initial, adaptive, mixed, finish or auto (default: print the current one)')
    .option(
      '--default-task-time <duration>',
      'assumed run time of a task before any has finished, for initial, adaptive and mixed',
    )
    .action((provider: string, heuristic: string | undefined, options: HeuristicOptions) =>
      act((context) => reportOrSwitch(context, provider, { ...options, heuristic })),
    );
}

/** Shows what decides a provider's requests, or lets something else decide from now on. */
export async function reportOrSwitch(
  context: CommandContext,
  name: string,
  spec: HeuristicOptions & { readonly heuristic: string | undefined },
): Promise<ExitStatus> {
  const { heuristic = '', defaultTaskTime } = spec;
  const isSwitch = heuristic !== '' || defaultTaskTime !== undefined;
  const defaultTaskTimeMs = defaultTaskTime === undefined ? undefined : parseDuration(defaultTaskTime);
  const { address, providerId } = await resolveProviderAddress(context, name);
  const provider = await context.provider(address);
  const inForce = isSwitch
    ? await provider.switchHeuristic({ heuristic, defaultTaskTimeMs })
    : await provider.getResource();
  const assumed = describeTaskTime(inForce.heuristic, inForce.defaultTaskTimeMs);
  printResult(context.output, {
    json: () => heuristicJson({ providerId, address, ...inForce }),
    table: () => [
      isSwitch
        ? `Provider ${providerId} decides by ${inForce.heuristic} from now on${assumed}. Its present requests stay.`
        : `Provider ${providerId} decides by ${inForce.heuristic}${assumed}.`,
    ],
    quiet: () => [inForce.heuristic],
  });
  return 0;
}
