// Whatever a user, or the owner of a resource, says in any field of a call to the reservation manager, it answers or
// refuses that, and stays whole.
import { join } from 'node:path';
import test from 'ava';
import { errorOfRefusal } from '@mutirao/api/errors';
import { ProvisioningState, Algorithm, Placement, ReservationServiceService, Timing } from '@mutirao/api/reservation';
import {
  reservationsMachine,
  type ReservationsChange,
  type ReservationsInput,
} from '@mutirao/core/machines/reservations';
import { openClaimSigner } from '@mutirao/runtime/claims';
import { ChangeSignal } from '@mutirao/runtime/driver';
import { openJournal } from '@mutirao/runtime/journal';
import { inject, reservationsOptions, temporaryFolder, tryHostileCalls } from '@mutirao/testkit';
import { reservationsChangeCodec } from '../../src/journal/change-codec.ts';
import { restoreState } from '../../src/journal/restore-state.ts';
import { reservationRoutes } from '../../src/routes/reservation-service.ts';

const hour = 3_600_000;
const noon = 1772366400000;
const rules = {
  capPercent: 80,
  algorithm: Algorithm.SUVS,
  placement: Placement.FIRST_FIT,
  durationMsMax: hour,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: 2,
  unclaimedMsMax: hour,
};
const spec = {
  resourceId: 'pool',
  amount: { $case: 'quantity', value: '4' } as const,
  durationMs: hour,
  earliestStartUnixMs: noon + hour,
  latestEndUnixMs: noon + 9 * hour,
  timing: Timing.ADVANCE,
};
const id = { reservationId: 1 };

test('no field of any call of a user ends the reservation manager or breaks what it knows', async (t) => {
  const folder = temporaryFolder(t);
  const journal = openJournal<ReservationsChange>({
    path: join(folder, 'journal.sqlite'),
    codec: reservationsChangeCodec,
  });
  const state = restoreState(journal, { ...reservationsOptions, livingMax: 5000 });
  let now = noon;
  const signer = openClaimSigner(join(folder, 'claim-key.pem'), 'local');
  const handlers = reservationRoutes({
    state,
    journal,
    journalInstance: 'first',
    changes: new ChangeSignal(),
    clock: { now: () => now },
    signer,
    usesOf: () => [],
    requireDiskSpace: () => undefined,
    ask: <T>(make: (replyTo: number) => ReservationsInput): Promise<T> => {
      const decision = reservationsMachine.step(state, [make(1)], (now += 1));
      journal.record(decision.changes, now);
      const reply = decision.commands.find((command) => command.kind === 'Reply')?.reply;
      return reply?.ok === true
        ? Promise.resolve(reply.value as T)
        : Promise.reject(reply === undefined ? new Error('no reply') : errorOfRefusal(reply));
    },
  });
  const owner = { userId: 'owner' };
  await inject(
    handlers.registerResource,
    { resourceId: 'pool', resourceType: 'processors', quantity: '16', rules: undefined },
    owner,
  );
  const { outcome } = await inject(
    handlers.requestReservation,
    { spec, clientRequestId: 'first', holdMs: 10_000, dryRun: false },
    owner,
  );
  const claim = outcome?.$case === 'reservation' ? outcome.value.claim : '';
  const held = {
    status: ProvisioningState.QUEUED,
    heldUnits: 1,
    askedUnits: 3,
    askUnixMs: 0,
    expectedUnixMs: noon + hour,
    chancePercent: 75,
    reasons: [{ code: 'request-waiting', parameters: {}, text: 'it waits' }],
  };
  const counts = await tryHostileCalls({
    methods: ReservationServiceService,
    handlers,
    context: owner,
    requests: {
      registerResource: { resourceId: 'other', resourceType: 'processors', quantity: '16', rules },
      updateResource: { resourceId: 'pool', rules },
      requestReservation: { spec, clientRequestId: '', holdMs: 1000, dryRun: false },
      getReservation: id,
      listReservations: {
        pageSize: 10,
        beforeReservationId: 5,
        resourceId: 'pool',
        statuses: [1],
        fromUnixMs: noon,
        untilUnixMs: noon + hour,
        allUsers: true,
      },
      renegotiateReservation: { ...id, spec },
      confirmReservation: id,
      prepareReservation: {
        ...id,
        together: { groupId: 'a-name-of-twenty-chars', managerAddress: 'unix:/x', reservationId: 1 },
      },
      getGroupOutcome: { groupId: 'a-name-of-twenty-chars', reservationId: 1 },
      verifyReservation: { claim, resourceId: 'pool', userId: 'owner' },
      claimReservation: { claim, resourceId: 'pool', userId: 'owner', clientRequestId: 'use', reservationId: 1 },
      reportProvisioning: { ...id, provisioning: held },
      releaseReservation: id,
      getCalendar: { resourceId: 'pool', fromUnixMs: noon, untilUnixMs: noon + hour },
      listResources: {},
      getClaimKeys: {},
      getQuota: { userId: 'owner' },
      addMaintenance: {
        resourceId: 'pool',
        maintenanceId: 'm',
        startUnixMs: noon + hour,
        endUnixMs: noon + 2 * hour,
        amount: 2,
        reason: 'why',
      },
      removeMaintenance: { resourceId: 'pool', maintenanceId: 'm' },
      failResource: { resourceId: 'pool', what: { $case: 'unitIndex', value: 3 }, reason: 'why' },
      restoreResource: { resourceId: 'pool', what: { $case: 'unitIndex', value: 3 } },
      cancelReservation: { ...id, reason: 'why' },
      watchReservations: { afterSequence: 0, reservationId: 0, onlyNew: false },
    },
    checkWhole: () => {
      reservationsMachine.checkInvariants(state);
    },
    fail: (what) => {
      t.fail(what);
    },
  });
  // What came in survives a restart.
  reservationsMachine.checkInvariants(restoreState(journal, { ...reservationsOptions, livingMax: 5000 }));
  t.log(counts);
  t.true(counts.taken > 500 && counts.refused > 500, JSON.stringify(counts));
  journal.close();
});
