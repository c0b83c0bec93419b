import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import type { AddMaintenanceRequest, Resource } from '@mutirao/api/reservation';
import { InvariantError } from '@mutirao/core/shared';

import type { ReservationClient } from '@mutirao/runtime/clients';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { reservableResourceJson } from '../../json/reservation-documents.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration, showInstant } from '../../output/units.ts';
import {
  addResourceOptions,
  areStated,
  mergeRules,
  readCount,
  readPart,
  rulesJson,
  type ResourceOptions,
} from '../../reservations/resource-options.ts';
import {
  checkResource,
  managerOption,
  openManager,
  resourcesByName,
  showAmount,
} from '../../reservations/show-reservation.ts';
import { readLimit } from '../../reservations/spec-options.ts';

const actions = ['add', 'list', 'update', 'add-maintenance', 'remove-maintenance', 'fail', 'restore'] as const;
type Action = (typeof actions)[number];

export function define(command: Command, act: Act): void {
  addResourceOptions(
    command
      .argument('<action>', actions.join(', '))
      .argument('[name]', 'of the resource; for "list" all when left out')
      .option(...managerOption),
  ).action((action: string, name: string | undefined, options: ResourceOptions) =>
    act((context) => manageResource(context, { action, name, options })),
  );
}

/** An action on a resource. */
export interface ResourceTask {
  readonly action: string;
  readonly name: string | undefined;
  readonly options: ResourceOptions;
}

/** Lists or changes what can be reserved, and prints the result. */
export async function manageResource(
  context: CommandContext,
  { action, name, options }: ResourceTask,
): Promise<ExitStatus> {
  const known = actions.find((one) => one === action);
  if (known === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `there is no "reservation resource ${action}"; expected one of ${actions.join(', ')}`,
    );
  const manager = await openManager(context, options.manager);
  if (known === 'list') return reportResources(context, await listed(manager, name));
  if (name === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', `"reservation resource ${action}" wants the name of a resource`);
  const {
    resource,
    movedCount = 0,
    shortenedCount = 0,
    cancelledCount = 0,
  } = await change({ manager, action: known, resourceId: name, options, now: context.clock.now() });
  if (resource === undefined) throw new InvariantError('the manager gave no answer');
  const rulesStand = known === 'add' && !areStated(resource.rules, options);
  if (rulesStand)
    context.output.note(
      `Resource ${name} exists already and keeps its rules; "mutirao reservation resource update ` +
        `${name}" changes them.`,
    );
  noteInTheWay(context, { movedCount, shortenedCount, cancelledCount });
  return reportResources(context, [resource]);
}

function noteInTheWay(
  context: CommandContext,
  { movedCount, shortenedCount, cancelledCount }: Record<'movedCount' | 'shortenedCount' | 'cancelledCount', number>,
): void {
  if (movedCount + shortenedCount + cancelledCount > 0)
    context.output.note(
      `Conflicting reservations: ${movedCount} moved, ${shortenedCount} shortened (in use), ${cancelledCount} ` +
        'cancelled; their users are notified.',
    );
}

/** One resource, or all where no name is given. @throws {MutiraoError} MUT_UNKNOWN_RESOURCE */
async function listed(manager: ReservationClient, name: string | undefined): Promise<Resource[]> {
  const resources = await resourcesByName(manager);
  checkResource(resources, name);
  return [...resources.values()].filter(({ resourceId }) => name === undefined || resourceId === name);
}

interface Change {
  readonly manager: ReservationClient;
  readonly action: Exclude<Action, 'list'>;
  readonly resourceId: string;
  readonly options: ResourceOptions;
  readonly now: number;
}

interface Changed {
  readonly resource?: Resource | undefined;
  readonly movedCount?: number;
  readonly shortenedCount?: number;
  readonly cancelledCount?: number;
}

async function change({ manager, action, resourceId, options, now }: Change): Promise<Changed> {
  const reason = options.reason ?? '';
  switch (action) {
    case 'add':
      if (options.total === undefined)
        throw new MutiraoError(
          'MUT_BAD_REQUEST',
          'nothing says how much there is; expected --total, as in 16 or 800KB/s',
        );
      return manager.registerResource({
        resourceId,
        resourceType: options.type ?? '',
        quantity: options.total,
        rules: rulesJson(options),
      });
    case 'update': {
      const old = (await manager.listResources()).resources.find((one) => one.resourceId === resourceId);
      return manager.updateResource({ resourceId, rules: mergeRules(old?.rules, options) });
    }
    case 'add-maintenance':
      return manager.addMaintenance(getWindow(resourceId, options, now));
    case 'remove-maintenance':
      return manager.removeMaintenance({ resourceId, maintenanceId: options.id ?? usualWindow });
    case 'fail':
      return manager.failResource({ resourceId, what: readPart(options), reason });
    case 'restore':
      return manager.restoreResource({ resourceId, what: readPart(options) });
  }
}

/** Name of a window that is given none. */
const usualWindow = 'maintenance';

function getWindow(
  resourceId: string,
  { id, from, until, amount, reason }: ResourceOptions,
  now: number,
): AddMaintenanceRequest {
  return {
    resourceId,
    maintenanceId: id ?? usualWindow,
    startUnixMs: readLimit(from, now) ?? now,
    endUnixMs: readLimit(until, now) ?? 0,
    amount: readCount('amount', amount ?? '0'),
    reason: reason ?? '',
  };
}

function reportResources(context: CommandContext, resources: readonly Resource[]): ExitStatus {
  printResult(context.output, {
    json: () => resources.map(reservableResourceJson),
    table: () => resourceTable(resources),
    quiet: () => resources.map(({ resourceId }) => resourceId),
  });
  return 0;
}

function resourceTable(resources: readonly Resource[]): string[] {
  if (resources.length === 0) return ['No resources.'];
  const rows = resources.map((resource) => {
    const json = reservableResourceJson(resource);
    return [
      resource.resourceId,
      resource.resourceType,
      showAmount(resource.total, resource.unit),
      `${String(json.cap_percent)} %`,
      String(json.algorithm),
      String(json.placement),
      json.duration_ms_max === 0 ? 'any' : showDuration(Number(json.duration_ms_max)),
      String(resource.reservationCount),
      showAmount(resource.failed, resource.unit),
      resource.ownerId,
    ];
  });
  const windows = resources.flatMap(({ resourceId, unit, maintenances }) =>
    maintenances.map(({ maintenanceId, startUnixMs, endUnixMs, amount, reason }) => [
      `${resourceId}/${maintenanceId}`,
      showAmount(amount, unit),
      showInstant(startUnixMs),
      showInstant(endUnixMs),
      reason,
    ]),
  );
  return [
    ...renderTable(
      [
        { title: 'RESOURCE' },
        { title: 'TYPE' },
        { title: 'TOTAL', right: true },
        { title: 'CAP', right: true },
        { title: 'ALGORITHM' },
        { title: 'PLACEMENT' },
        { title: 'MAX DURATION', right: true },
        { title: 'RESERVATIONS', right: true },
        { title: 'FAILED', right: true },
        { title: 'OWNER' },
      ],
      rows,
    ),
    ...(windows.length === 0
      ? []
      : [
          '',
          ...renderTable(
            [
              { title: 'MAINTENANCE' },
              { title: 'AMOUNT', right: true },
              { title: 'FROM' },
              { title: 'TO' },
              { title: 'REASON' },
            ],
            windows,
          ),
        ]),
  ];
}
