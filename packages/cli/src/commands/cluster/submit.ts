import { InvalidArgumentError, type Command } from 'commander';

import type { WalltimeGain } from '@mutirao/api/cluster';
import { plural } from '@mutirao/core/shared';
import { MutiraoError } from '@mutirao/api/errors';
import type { Slot } from '@mutirao/api/common';
import { parseDuration, parseGpus, parseSize } from '@mutirao/formats';
import { wholeDevice } from '@mutirao/core/resources';
import { accountName } from '@mutirao/runtime/files';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { findClusterAddress } from '../../grid/addresses.ts';
import { walltimeGainJson } from '../../json/documents.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { managerOption, openManager, readReservationId } from '../../reservations/show-reservation.ts';

/** A local user's request. */
export interface ClusterSubmitOptions {
  readonly cluster?: string;
  readonly width?: number;
  readonly walltime: string;
  readonly user?: string;
  readonly cpus?: number;
  readonly memory?: string;
  readonly gpus?: string;
  readonly reservation?: string;
  readonly manager?: string;
}

export function define(command: Command, act: Act): void {
  command
    .usage('[options] -- COMMAND [ARGUMENT...]')
    .option('--cluster <name>', 'name or address of the cluster (default: the only one of this grid)')
    .option(
      '--width <processors>',
      'processors to request, a multiple of --cpus (default: --cpus, else 1); the command is started once on each',
      readWidth,
    )
    .option(
      '--cpus <count>',
      'processors of each slot, on one node; the command is started once on each node',
      readWidth,
    )
    .option('--memory <size>', 'memory of each slot, for example 8G')
    .option('--gpus <gpus>', 'GPUs of each slot: 1 or 2:a100')
    .option(
      '--walltime <duration>',
      'longest run time, for example 90s, 1h30m or HH:MM:SS; the request is ended after it',
      '1h',
    )
    .option('--user <name>', 'submit as this user (default: your account)')
    .option(
      '--reservation <reservation>',
      'use a reservation of yours: its number, or its claim as "mutirao reservation show" prints it',
    )
    .option(...managerOption)
    .action((options: ClusterSubmitOptions) => act((context) => submitToCluster(context, options)));
}

/** Submits a request of a local user to an embedded cluster. */
export async function submitToCluster(context: CommandContext, options: ClusterSubmitOptions): Promise<ExitStatus> {
  const command = context.passedOn ?? [];
  if (command.length === 0) throw new MutiraoError('MUT_BAD_REQUEST', 'there is no command; expected one after "--"');
  const width = options.width ?? options.cpus ?? 1;
  const { name, address } = findClusterAddress(context.home, options.cluster);
  const cluster = await context.cluster(address);
  const { requestId, walltimeGain } = await cluster.allocate({
    userId: options.user ?? accountName(),
    widthProcessors: width,
    walltimeMs: parseDuration(options.walltime),
    command: [...command],
    environment: {},
    clientRequestId: '',
    workingDirectory: context.directory,
    slot: readSlot(options),
    reservationClaim: await findClaim(context, options),
  });
  printResult(context.output, {
    json: () => ({
      cluster: name,
      request_id: requestId,
      walltime_gain: walltimeGain === undefined ? null : walltimeGainJson(walltimeGain),
    }),
    table: () => [
      `Request ${requestId} is in the queue of ${name}: ${plural(width, 'processor')} ` + `for ${options.walltime}.`,
      ...(walltimeGain === undefined ? [] : [reportGain(walltimeGain)]),
    ],
    quiet: () => [requestId],
  });
  return 0;
}

/** What the request is a whole number of; undefined for single processors. */
function readSlot({ cpus, memory, gpus }: ClusterSubmitOptions): Slot | undefined {
  if (cpus === undefined && memory === undefined && gpus === undefined) return undefined;
  const { gpus: share, gpuKind = '' } = gpus === undefined ? { gpus: 0 } : parseGpus(gpus);
  if (share % wholeDevice > 0)
    throw new MutiraoError('MUT_BAD_REQUEST', `--gpus is ${gpus}; expected whole GPUs, as in 1 or 2:a100`);
  return {
    processors: cpus ?? 1,
    memoryBytes: memory === undefined ? 0 : parseSize(memory),
    gpus: share / wholeDevice,
    gpuKind,
  };
}

/** What would have put a request further ahead. */
function reportGain({
  walltimeMs,
  aheadCount,
  tighterAheadCount,
  expectedWaitMs,
  tighterExpectedWaitMs,
}: WalltimeGain): string {
  const places = aheadCount - tighterAheadCount;
  // Where starts are planned it may also fit where the longer one does not.
  const further =
    places === 0
      ? ''
      : `be ${places} ${places === 1 ? 'place' : 'places'} further ahead (behind ${tighterAheadCount} and not ` +
        `${aheadCount}) and `;
  return (
    `With a walltime of ${showDuration(walltimeMs)} it would ${further}wait about ` +
    `${showDuration(tighterExpectedWaitMs)} and not ${showDuration(expectedWaitMs)}.`
  );
}

/** A claim has dots in it; of a number, the manager is asked for the claim. */
async function findClaim(
  context: CommandContext,
  { reservation = '', manager }: ClusterSubmitOptions,
): Promise<string> {
  if (reservation === '' || reservation.includes('.')) return reservation;
  const client = await openManager(context, manager);
  const found = (await client.getReservation({ reservationId: readReservationId(reservation) })).reservation;
  if (found === undefined || found.claim === '')
    throw new MutiraoError(
      'MUT_RESERVATION_OVER',
      `reservation ${reservation} has no claim; expected one of yours that is confirmed and not over`,
    );
  return found.claim;
}

function readWidth(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected an integer of 1 or more.');
  return value;
}
