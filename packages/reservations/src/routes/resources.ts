import { badRequest, decodeRules, encodeResource, readInstant, readText } from '@mutirao/api/codecs';
import { errorOfRefusal } from '@mutirao/api/errors';
import type {
  FailResourceRequest,
  GetCalendarRequest,
  RegisterResourceRequest,
  ReservationServiceService,
} from '@mutirao/api/reservation';
import {
  describeCalendar,
  listResources,
  type CalendarView,
  type NewResource,
  type Part,
  type ReservationsInput,
  type ResourceReply,
} from '@mutirao/core/machines/reservations';
import { describeInstant, type Instant } from '@mutirao/core/shared';
import { unary, type CallContext, type Handlers } from '@mutirao/runtime/rpc';
import type { ReservationsHost } from './reservations-host.ts';

type Service = Handlers<typeof ReservationServiceService>;
type Routes = Pick<
  Service,
  | 'getCalendar'
  | 'listResources'
  | 'registerResource'
  | 'updateResource'
  | 'addMaintenance'
  | 'removeMaintenance'
  | 'failResource'
  | 'restoreResource'
>;

const day = 24 * 3_600_000;
/** Most stretches of a calendar in one answer. */
const slotsMax = 10_000;

/** What owners do with resources, and what everybody sees of them. */
export function resourceRoutes(host: ReservationsHost): Routes {
  const askAs = (
    { userId }: CallContext,
    make: (asked: { readonly replyTo: number; readonly userId: string }) => ReservationsInput,
  ): Promise<ResourceReply> => {
    host.requireDiskSpace();
    return host.ask<ResourceReply>((replyTo) => make({ replyTo, userId }));
  };
  return {
    getCalendar: unary({
      decode: (wire) => decodeWindow(wire, host.clock.now()),
      handle: (window) => getView(host, window),
      encode: encodeView,
    }),
    listResources: unary({
      decode: () => undefined,
      handle: () => listResources(host.state),
      encode: (resources) => ({ resources: resources.map(encodeResource) }),
    }),
    registerResource: unary({
      decode: decodeNewResource,
      handle: (resource, context) => askAs(context, (asked) => ({ kind: 'ResourceOffered', ...asked, resource })),
      encode: encodeReply,
    }),
    updateResource: unary({
      decode: ({ resourceId, rules }) => ({ resourceId, rules: decodeRules(rules) }),
      handle: (request, context) => askAs(context, (asked) => ({ kind: 'RulesChanged', ...asked, ...request })),
      encode: encodeReply,
    }),
    addMaintenance: unary({
      decode: ({ resourceId, maintenanceId, startUnixMs, endUnixMs, amount, reason }) => ({
        resourceId,
        name: readName('maintenance_id', maintenanceId),
        startsAt: readInstant('start_unix_ms', startUnixMs) ?? 0,
        endsAt: readInstant('end_unix_ms', endUnixMs) ?? 0,
        amount,
        reason: readText('reason', reason),
      }),
      handle: (request, context) => askAs(context, (asked) => ({ kind: 'MaintenanceAnnounced', ...asked, ...request })),
      encode: encodeReply,
    }),
    removeMaintenance: unary({
      decode: ({ resourceId, maintenanceId }) => ({ resourceId, name: maintenanceId }),
      handle: (request, context) => askAs(context, (asked) => ({ kind: 'MaintenanceWithdrawn', ...asked, ...request })),
      encode: encodeReply,
    }),
    failResource: unary({
      decode: ({ resourceId, what, reason }) => ({
        resourceId,
        part: decodePart(what),
        reason: readText('reason', reason),
      }),
      handle: (request, context) => askAs(context, (asked) => ({ kind: 'ResourceFailed', ...asked, ...request })),
      encode: encodeReply,
    }),
    restoreResource: unary({
      decode: ({ resourceId, what }) => ({ resourceId, part: decodePart(what) }),
      handle: (request, context) => askAs(context, (asked) => ({ kind: 'ResourceRestored', ...asked, ...request })),
      encode: encodeReply,
    }),
  };
}

function encodeReply({ state, movedCount, shortenedCount, cancelledCount }: ResourceReply) {
  return { resource: encodeResource(state), movedCount, shortenedCount, cancelledCount };
}

function decodeNewResource({ resourceId, resourceType, quantity, rules }: RegisterResourceRequest): NewResource {
  return {
    id: readName('resource_id', resourceId),
    type: readText('resource_type', resourceType),
    quantity: readText('quantity', quantity),
    rules: decodeRules(rules),
  };
}

function readName(field: string, name: string): string {
  if (!/^[\w][\w.@/-]{0,127}$/.test(name))
    throw badRequest(
      `${field} is ${JSON.stringify(name)}; expected up to 128 letters, digits, ".", "_", "-", "/" and "@"`,
    );
  return name;
}

function decodePart(what: FailResourceRequest['what']): Part {
  switch (what?.$case) {
    case undefined:
      throw badRequest('what is absent; expected an amount or the index of a unit');
    case 'amount':
      return { kind: 'amount', amount: what.value };
    case 'unitIndex':
      return { kind: 'unit', unit: what.value };
  }
}

interface WantedWindow {
  readonly resourceId: string;
  readonly from: Instant;
  readonly until: Instant;
}

function decodeWindow({ resourceId, fromUnixMs, untilUnixMs }: GetCalendarRequest, now: Instant): WantedWindow {
  const from = readInstant('from_unix_ms', fromUnixMs) ?? 0;
  const begin = from === 0 ? now : from;
  const until = untilUnixMs === 0 ? begin + day : (readInstant('until_unix_ms', untilUnixMs) ?? 0);
  if (until <= begin)
    throw badRequest(
      `the window begins at ${describeInstant(begin)} and ends at ${describeInstant(until)}; expected its end after ` +
        'its beginning',
    );
  return { resourceId, from: begin, until };
}

function getView(
  { state }: ReservationsHost,
  window: WantedWindow,
): { readonly window: WantedWindow; readonly view: CalendarView } {
  const view = describeCalendar(state, window.resourceId, { from: window.from, until: window.until, slotsMax });
  if ('code' in view) throw errorOfRefusal(view);
  return { window, view };
}

function encodeView({ window, view }: { readonly window: WantedWindow; readonly view: CalendarView }) {
  return {
    resource: encodeResource(view.state),
    fromUnixMs: window.from,
    untilUnixMs: window.until,
    truncated: view.isCut,
    slots: view.slots.map(({ start, end, used }) => ({ startUnixMs: start, endUnixMs: end, used })),
  };
}
