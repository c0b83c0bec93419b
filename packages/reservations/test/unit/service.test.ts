import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { verify, createPublicKey } from 'node:crypto';
import test from 'ava';
import {
  ProvisioningState,
  Algorithm,
  ListReservationsResponse,
  Placement,
  ReservationStatus,
  Timing,
  GroupOutcome,
  type GetGroupOutcomeRequest,
  type RequestReservationRequest,
  type ReservationSpec,
  type VerifyReservationResponse,
  WatchReservationsResponse,
  type WatchReservationsRequest,
} from '@mutirao/api/reservation';
import { errorOfRefusal, MutiraoError } from '@mutirao/api/errors';
import {
  createReservationsState,
  reservationsMachine,
  type ReservationsChange,
  type ReservationsInput,
} from '@mutirao/core/machines/reservations';
import { instantMax } from '@mutirao/core/reservations';
import { openClaimSigner } from '@mutirao/runtime/claims';
import { ChangeSignal } from '@mutirao/runtime/driver';
import { openJournal } from '@mutirao/runtime/journal';
import type { StreamWriter } from '@mutirao/runtime/rpc';
import { aCallContext, inject, openRules, reservationsOptions, temporaryFolder } from '@mutirao/testkit';
import { reservationsChangeCodec } from '../../src/journal/change-codec.ts';
import { restoreState } from '../../src/journal/restore-state.ts';
import { reservationRoutes } from '../../src/routes/reservation-service.ts';

const hour = 3_600_000;
/** 2026-03-01T12:00:00Z. */
const noon = 1772366400000;

/** The service over the real machine, journal and key, without driver and socket. */
function service(folder: string) {
  const journal = openJournal<ReservationsChange>({
    path: join(folder, 'journal.sqlite'),
    codec: reservationsChangeCodec,
  });
  const state = restoreState(journal, reservationsOptions);
  const changes = new ChangeSignal();
  const clock = { at: noon, now: () => clock.at };
  const signer = openClaimSigner(join(folder, 'claim-key.pem'), 'local');
  const routes = reservationRoutes({
    state,
    journal,
    journalInstance: 'first',
    changes,
    clock,
    signer,
    requireDiskSpace: () => undefined,
    usesOf: () => [],
    ask: <T>(make: (replyTo: number) => ReservationsInput): Promise<T> => {
      const decision = reservationsMachine.step(state, [make(1)], clock.at);
      journal.record(decision.changes, clock.at);
      changes.notify();
      const reply = decision.commands.find((command) => command.kind === 'Reply')?.reply;
      return reply?.ok === true
        ? Promise.resolve(reply.value as T)
        : Promise.reject(reply === undefined ? new Error('no reply') : errorOfRefusal(reply));
    },
  });
  return { routes, state, clock, journal, signer };
}

const rules = {
  capPercent: undefined,
  algorithm: Algorithm.UNSPECIFIED,
  placement: Placement.UNSPECIFIED,
  durationMsMax: 0,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: undefined,
  unclaimedMsMax: 0,
};
const cluster = { resourceId: 'cluster', resourceType: 'processors', quantity: '16', rules };

function request(
  parts: Partial<ReservationSpec> = {},
  more: Partial<RequestReservationRequest> = {},
): RequestReservationRequest {
  const spec = {
    resourceId: 'cluster',
    amount: { $case: 'quantity', value: '4' } as const,
    durationMs: hour,
    earliestStartUnixMs: undefined,
    latestEndUnixMs: undefined,
    timing: Timing.UNSPECIFIED,
    ...parts,
  };
  return { spec, clientRequestId: '', holdMs: 0, dryRun: false, ...more };
}

const owner = { userId: 'owner' };
const ana = { userId: 'ana' };

test('a reservation is answered with its place, its units and a claim that its key alone verifies', async (t) => {
  const { routes, clock } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  const { outcome } = await inject(routes.requestReservation, request(), ana);
  if (outcome?.$case !== 'reservation') return t.fail('there is no reservation');
  t.like(outcome.value, {
    status: ReservationStatus.CONFIRMED,
    startUnixMs: noon,
    endUnixMs: noon + hour,
    units: [{ first: 0, count: 4 }],
    amount: 4,
  });
  const [header = '', payload = '', signature = ''] = outcome.value.claim.split('.');
  t.like(JSON.parse(Buffer.from(payload, 'base64url').toString()), {
    iss: 'local',
    sub: 'ana',
    aud: 'cluster',
    units: '0-3',
    jti: '1.1',
    exp: (noon + hour) / 1000,
  });
  const { keys } = await inject(routes.getClaimKeys, {}, ana);
  t.true(
    verify(
      null,
      Buffer.from(`${header}.${payload}`),
      createPublicKey(keys[0]?.publicKeyPem ?? ''),
      Buffer.from(signature, 'base64url'),
    ),
  );
  t.like(
    await inject(routes.verifyReservation, { claim: outcome.value.claim, resourceId: 'cluster', userId: 'ana' }, owner),
    { valid: true, code: '' },
  );
  t.like(
    await inject(routes.verifyReservation, { claim: outcome.value.claim, resourceId: 'cluster', userId: 'bob' }, owner),
    { valid: false, code: 'MUT_CLAIM_NOT_YOURS' },
  );
  const forged = `${header}.${Buffer.from(Buffer.from(payload, 'base64url').toString().replace('"ana"', '"bob"')).toString('base64url')}.${signature}`;
  t.like(await inject(routes.verifyReservation, { claim: forged, resourceId: '', userId: '' }, owner), {
    valid: false,
    code: 'MUT_CLAIM_FORGED',
    reservation: undefined,
  });
  await t.throwsAsync(
    inject(
      routes.claimReservation,
      { claim: forged, resourceId: '', userId: '', clientRequestId: '', reservationId: 0 },
      ana,
    ),
    { code: 'MUT_CLAIM_FORGED' },
  );
  await inject(routes.cancelReservation, { reservationId: 1, reason: '' }, ana);
  t.like(await inject(routes.verifyReservation, { claim: outcome.value.claim, resourceId: '', userId: '' }, owner), {
    valid: false,
    code: 'MUT_RESERVATION_OVER',
  });
  clock.at += 2 * hour;
  return t.deepEqual((await inject(routes.getReservation, { reservationId: 1 }, ana)).reservation?.claim, '');
});

test('the manager of the resource and the user receive the claim that replaced a genuine one, and others do not', async (t) => {
  const { routes } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  const { outcome } = await inject(routes.requestReservation, request({ earliestStartUnixMs: noon + hour }), ana);
  const first = outcome?.$case === 'reservation' ? outcome.value.claim : '';
  const verified = (userId: string, claim = first): Promise<VerifyReservationResponse> =>
    inject(routes.verifyReservation, { claim, resourceId: 'cluster', userId: 'ana' }, { userId });
  t.like(await verified('owner'), { code: 'MUT_CLAIM_EARLY', presentClaim: '' });
  await inject(
    routes.renegotiateReservation,
    { reservationId: 1, spec: request({ earliestStartUnixMs: noon + 2 * hour }).spec },
    ana,
  );
  const { claim } = (await inject(routes.getReservation, { reservationId: 1 }, ana)).reservation ?? { claim: '' };
  t.not(claim, first);
  for (const userId of ['owner', 'ana'])
    t.like(await verified(userId), { valid: false, code: 'MUT_CLAIM_SUPERSEDED', presentClaim: claim });
  t.like(await verified('bob'), { code: 'MUT_CLAIM_SUPERSEDED', presentClaim: '' });
  t.like(await verified('owner', `${first}x`), { code: 'MUT_CLAIM_FORGED', presentClaim: '' });
  await inject(routes.cancelReservation, { reservationId: 1, reason: '' }, ana);
  t.like(await verified('owner'), { code: 'MUT_RESERVATION_OVER', presentClaim: '' });
});

test('the manager of a resource reports a use by its number, and anybody else shows the claim', async (t) => {
  const { routes } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  const { outcome } = await inject(routes.requestReservation, request(), ana);
  const claim = outcome?.$case === 'reservation' ? outcome.value.claim : '';
  const reported = { claim: '', resourceId: 'cluster', userId: 'ana', clientRequestId: 'k', reservationId: 1 };
  await t.throwsAsync(inject(routes.claimReservation, reported, ana), { code: 'MUT_NOT_OWNER' });
  await t.throwsAsync(
    inject(routes.claimReservation, { ...reported, claim: 'forged' }, ana),
    { code: 'MUT_CLAIM_FORGED' },
    'a claim that is shown is looked at',
  );
  await t.throwsAsync(inject(routes.claimReservation, { ...reported, reservationId: 2 }, owner), {
    code: 'MUT_NOT_FOUND',
  });
  t.is(
    (await inject(routes.claimReservation, { ...reported, claim: 'of another life' }, owner)).reservation?.status,
    ReservationStatus.CLAIMED,
  );
  t.is((await inject(routes.claimReservation, reported, owner)).reservation?.status, ReservationStatus.CLAIMED);
  await t.throwsAsync(inject(routes.claimReservation, { ...reported, claim, clientRequestId: 'hers' }, ana), {
    code: 'MUT_CLAIM_USED',
  });
});

test('provisioning is reported by the manager of the resource alone, survives a restart with its reservation, and stays as it was once that is over', async (t) => {
  const folder = temporaryFolder(t);
  const { routes, journal } = service(folder);
  await inject(routes.registerResource, cluster, owner);
  await inject(routes.requestReservation, request({ earliestStartUnixMs: noon + hour }, { clientRequestId: 'k' }), ana);
  const provisioning = {
    status: ProvisioningState.QUEUED,
    heldUnits: 1,
    askedUnits: 3,
    askUnixMs: 0,
    expectedUnixMs: noon + hour,
    chancePercent: 75,
    reasons: [{ code: 'requeued', parameters: {}, text: 'The resource manager put the request back into its queue.' }],
  };
  await t.throwsAsync(inject(routes.reportProvisioning, { reservationId: 1, provisioning }, ana), {
    code: 'MUT_NOT_OWNER',
  });
  await t.throwsAsync(inject(routes.reportProvisioning, { reservationId: 2, provisioning }, owner), {
    code: 'MUT_NOT_FOUND',
  });
  await t.throwsAsync(
    inject(routes.reportProvisioning, { reservationId: 1, provisioning: { ...provisioning, askedUnits: 16 } }, owner),
    { code: 'MUT_BAD_REQUEST', message: /more than the 16 of cluster/ },
  );
  await t.throwsAsync(
    inject(
      routes.reportProvisioning,
      { reservationId: 1, provisioning: { ...provisioning, chancePercent: 101 } },
      owner,
    ),
    { code: 'MUT_BAD_REQUEST' },
  );
  await inject(routes.reportProvisioning, { reservationId: 1, provisioning }, owner);
  const written = journal.lastSequence();
  await inject(routes.reportProvisioning, { reservationId: 1, provisioning }, owner);
  t.is(journal.lastSequence(), written, 'a repeated report is not a change');
  t.like((await inject(routes.getReservation, { reservationId: 1 }, ana)).reservation, { provisioning, revision: 1 });
  journal.close();
  const again = service(folder);
  t.deepEqual(
    (await inject(again.routes.getReservation, { reservationId: 1 }, ana)).reservation?.provisioning,
    provisioning,
  );
  t.is(
    (
      await inject(
        again.routes.requestReservation,
        request({ earliestStartUnixMs: noon + hour }, { clientRequestId: 'k' }),
        ana,
      )
    ).outcome?.$case,
    'reservation',
    'its key is as good as before',
  );
  const page = await inject(
    again.routes.listReservations,
    {
      pageSize: 0,
      beforeReservationId: 0,
      resourceId: '',
      statuses: [],
      fromUnixMs: 0,
      untilUnixMs: 0,
      allUsers: false,
    },
    ana,
  );
  t.deepEqual(
    page.reservations.map((one) => one.provisioning),
    [provisioning],
  );
  const { chancePercent: _, ...without } = provisioning;
  await inject(
    again.routes.reportProvisioning,
    {
      reservationId: 1,
      provisioning: {
        ...without,
        chancePercent: undefined,
        status: ProvisioningState.HELD,
        heldUnits: 4,
        askedUnits: 0,
      },
    },
    owner,
  );
  await inject(again.routes.cancelReservation, { reservationId: 1, reason: '' }, ana);
  await inject(again.routes.reportProvisioning, { reservationId: 1, provisioning }, owner);
  t.like((await inject(again.routes.getReservation, { reservationId: 1 }, ana)).reservation?.provisioning, {
    status: ProvisioningState.HELD,
    chancePercent: undefined,
  });
  again.journal.close();
});

test('what the journal promises is there after a restart, also the answer to a repeated request', async (t) => {
  const folder = temporaryFolder(t);
  const first = service(folder);
  await inject(first.routes.registerResource, cluster, owner);
  await inject(first.routes.registerResource, { ...cluster, resourceId: 'net', quantity: '800KB/s' }, owner);
  const placed = await inject(first.routes.requestReservation, request({}, { clientRequestId: 'k' }), ana);
  await inject(
    first.routes.requestReservation,
    request({ resourceId: 'net', amount: { $case: 'quantity', value: '50%' } }, { holdMs: 5000 }),
    ana,
  );
  await inject(
    first.routes.prepareReservation,
    { reservationId: 2, together: { groupId: 'a-long-enough-name', managerAddress: 'h:1', reservationId: 9 } },
    ana,
  );
  await inject(
    first.routes.failResource,
    { resourceId: 'cluster', what: { $case: 'unitIndex', value: 9 }, reason: 'smoke' },
    owner,
  );
  first.journal.close();
  const second = service(folder);
  reservationsMachine.checkInvariants(second.state);
  t.deepEqual([...second.state.reservations.values()], [...first.state.reservations.values()]);
  t.deepEqual(second.state.reservations.get(2)?.together, {
    groupId: 'a-long-enough-name',
    manager: 'h:1',
    reservationId: 9,
  });
  t.deepEqual(await inject(second.routes.listResources, {}, ana), await inject(first.routes.listResources, {}, ana));
  t.deepEqual(await inject(second.routes.requestReservation, request({}, { clientRequestId: 'k' }), ana), placed);
  const replayed = createReservationsState(reservationsOptions);
  second.journal.replay(0, (_sequence, change) => {
    reservationsMachine.apply(replayed, change);
  });
  t.deepEqual([...replayed.reservations.values()], [...second.state.reservations.values()]);
  second.journal.close();
});

test('a journal of a release that stored no facts of its reservations is read, and gets them', async (t) => {
  const folder = temporaryFolder(t);
  const first = service(folder);
  await inject(first.routes.registerResource, cluster, owner);
  for (const key of ['one', 'two'])
    await inject(first.routes.requestReservation, request({}, { clientRequestId: key }), ana);
  first.journal.database.exec(
    "DROP TABLE reservation_facts; DROP TABLE names_now; DELETE FROM numbers_now WHERE name = 'facts'; UPDATE " +
      "meta SET value = 1 WHERE name = 'change_version'",
  );
  first.journal.close();
  for (const life of ['with older tables', 'with facts']) {
    const { journal, state } = service(folder);
    reservationsMachine.checkInvariants(state);
    t.deepEqual([...state.reservations.values()], [...first.state.reservations.values()], life);
    t.is(Number(journal.database.prepare('SELECT count(*) AS count FROM reservation_facts').get()?.['count']), 2, life);
    journal.close();
  }
});

/** A journal as an older release left it, with reservations but without their facts. */
async function olderJournal(folder: string, count: number) {
  const { routes, journal } = service(folder);
  await inject(routes.registerResource, cluster, owner);
  for (let id = 1; id <= count; id += 1) await inject(routes.requestReservation, request(), ana);
  journal.database.exec(
    "DELETE FROM reservation_facts; DELETE FROM names_now; DELETE FROM numbers_now WHERE name = 'facts'; VACUUM",
  );
  journal.close();
  return openJournal<ReservationsChange>({ path: join(folder, 'journal.sqlite'), codec: reservationsChangeCodec });
}

test('a full disk while an older journal gets its facts is reported as one, and the next start with space goes on', async (t) => {
  const folder = temporaryFolder(t);
  const journal = await olderJournal(folder, 60);
  const pages = Number(journal.database.prepare('PRAGMA page_count').get()?.['page_count']);
  journal.database.exec(`PRAGMA max_page_count = ${pages}`);
  const error = t.throws(() => restoreState(journal, reservationsOptions), {
    instanceOf: MutiraoError,
    code: 'MUT_DISK_FULL',
  });
  t.true(
    error?.message.startsWith(`${join(folder, 'journal.sqlite')}: writing failed, there is no room`),
    error?.message,
  );
  journal.database.exec('PRAGMA max_page_count = 100000');
  const state = restoreState(journal, reservationsOptions);
  reservationsMachine.checkInvariants(state);
  t.is(state.reservations.size, 60);
  journal.close();
});

test('a reservation that is missing from the journal, or not as it was written, is reported as a damaged journal', async (t) => {
  const folder = temporaryFolder(t);
  const older = await olderJournal(folder, 3);
  older.database.exec("UPDATE reservations_now SET body = '[1,' WHERE id = 1");
  t.throws(() => restoreState(older, reservationsOptions), {
    instanceOf: MutiraoError,
    code: 'MUT_JOURNAL_CORRUPT',
    message: /reservation 1 cannot be read: \[1,/u,
  });
  older.database.exec('DELETE FROM reservations_now WHERE id = 1');
  const { reservations } = restoreState(older, reservationsOptions);
  t.is(reservations.get(2)?.place.userId, 'ana');
  older.database.exec("UPDATE reservations_now SET body = 'x' WHERE id = 2; DELETE FROM reservations_now WHERE id = 3");
  t.throws(() => reservations.get(2), {
    instanceOf: MutiraoError,
    code: 'MUT_JOURNAL_CORRUPT',
    message: /reservation 2 cannot be read: x/u,
  });
  t.throws(() => reservations.get(3), {
    instanceOf: MutiraoError,
    code: 'MUT_JOURNAL_CORRUPT',
    message: /reservation 3 is not there/u,
  });
  older.database.exec('DROP TABLE reservations_now');
  t.throws(() => reservations.get(3), {
    instanceOf: MutiraoError,
    code: 'MUT_JOURNAL_FAILED',
    message: /reading failed/u,
  });
  older.close();
});

test('what has changed or is forgotten since a restart is so after the next one, and its key finds it', async (t) => {
  const folder = temporaryFolder(t);
  const first = service(folder);
  await inject(first.routes.registerResource, cluster, owner);
  const count = reservationsOptions.endedMax + 2;
  for (let id = 1; id <= count; id += 1)
    await inject(first.routes.requestReservation, request({}, { clientRequestId: `key ${id}` }), ana);
  first.journal.close();
  const second = service(folder);
  for (let id = 1; id < count; id += 1)
    await inject(second.routes.cancelReservation, { reservationId: id, reason: '' }, ana);
  await inject(
    second.routes.renegotiateReservation,
    { reservationId: count, spec: request({ earliestStartUnixMs: noon + 100 * hour }).spec },
    ana,
  );
  reservationsMachine.checkInvariants(second.state);
  second.journal.close();
  const third = service(folder);
  reservationsMachine.checkInvariants(third.state);
  t.deepEqual(
    [...third.state.reservations.values()],
    [...second.state.reservations.values()].sort((one, other) => one.place.id - other.place.id),
  );
  t.false(third.state.reservations.has(1));
  const { outcome } = await inject(
    third.routes.requestReservation,
    request({}, { clientRequestId: `key ${count}` }),
    ana,
  );
  t.like(outcome?.$case === 'reservation' ? outcome.value : {}, {
    reservationId: count,
    startUnixMs: noon + 100 * hour,
  });
  third.journal.close();
});

test("the name of a user whose first reservation could not be written is nobody else's afterwards", (t) => {
  const folder = temporaryFolder(t);
  const { journal, state } = service(folder);
  const ask = (userId: string): readonly ReservationsChange[] =>
    reservationsMachine.step(
      state,
      [
        {
          kind: 'ReservationRequested',
          replyTo: 1,
          userId,
          clientRequestId: '',
          hold: 0,
          isDryRun: false,
          spec: {
            resourceId: 'cluster',
            amount: { kind: 'text', text: '1' },
            duration: hour,
            earliestStart: undefined,
            latestEnd: undefined,
            timing: 'advance',
          },
        },
      ],
      noon,
    ).changes;
  journal.record(
    reservationsMachine.step(
      state,
      [
        {
          kind: 'ResourceOffered',
          replyTo: 1,
          userId: 'owner',
          resource: { id: 'cluster', type: 'processors', quantity: '16', rules: openRules },
        },
      ],
      noon,
    ).changes,
    noon,
  );
  const late = ask('ana');
  journal.database.exec(
    "CREATE TEMP TRIGGER refusal BEFORE INSERT ON reservation_facts BEGIN SELECT RAISE(ABORT, 'refused'); END",
  );
  t.throws(() => journal.record(late, noon), { instanceOf: MutiraoError, code: 'MUT_JOURNAL_FAILED' });
  journal.database.exec('DROP TRIGGER refusal');
  for (const changes of [ask('bia'), late]) journal.record(changes, noon);
  journal.close();
  const again = service(folder);
  t.deepEqual(
    [...again.state.reservations.briefs()].map(({ place }) => place.userId),
    ['ana', 'bia'],
  );
  again.journal.close();
});

test('the number of a reservation that was forgotten is not given again after a restart', async (t) => {
  const folder = temporaryFolder(t);
  const first = service(folder);
  await inject(first.routes.registerResource, cluster, owner);
  const count = reservationsOptions.endedMax + 1;
  for (let id = 1; id <= count; id += 1) await inject(first.routes.requestReservation, request(), ana);
  // The last one is over first, so that it is the one that is forgotten.
  for (const id of [count, ...Array.from({ length: count - 1 }, (_none, index) => index + 1)])
    await inject(first.routes.cancelReservation, { reservationId: id, reason: '' }, ana);
  t.false(first.state.reservations.has(count));
  first.journal.close();
  const second = service(folder);
  const { outcome } = await inject(second.routes.requestReservation, request(), ana);
  t.is(outcome?.$case === 'reservation' ? outcome.value.reservationId : 0, count + 1);
  second.journal.close();
});

test("a caller with the group's name learns the outcome of its coordinator, and nothing of other reservations", async (t) => {
  const { routes, clock } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  const groupId = 'a-long-enough-name';
  const decision = async (of: Partial<GetGroupOutcomeRequest> = {}): Promise<GroupOutcome> =>
    (await inject(routes.getGroupOutcome, { groupId, reservationId: 1, ...of }, { userId: 'bob' })).decision;
  for (const _one of [1, 2, 3])
    await inject(routes.requestReservation, request({ earliestStartUnixMs: noon + hour }, { holdMs: 5000 }), ana);
  t.is(await decision(), GroupOutcome.UNSPECIFIED);
  const together = { groupId, managerAddress: '', reservationId: 1 };
  await t.throwsAsync(
    inject(routes.prepareReservation, { reservationId: 1, together: { ...together, groupId: 'short' } }, ana),
    { code: 'MUT_BAD_REQUEST' },
  );
  for (const reservationId of [1, 2])
    t.like((await inject(routes.prepareReservation, { reservationId, together }, ana)).reservation, { together });
  t.is(await decision(), GroupOutcome.OPEN);
  t.is(await decision({ reservationId: 2 }), GroupOutcome.UNSPECIFIED, 'the second decides nothing');
  t.is(await decision({ groupId: 'another-long-enough' }), GroupOutcome.UNSPECIFIED);
  await inject(routes.confirmReservation, { reservationId: 1 }, ana);
  t.is(await decision(), GroupOutcome.COMMITTED);
  await inject(routes.cancelReservation, { reservationId: 1, reason: '' }, ana);
  t.is(await decision(), GroupOutcome.ABORTED);
  const other = { ...together, reservationId: 3 };
  await inject(routes.prepareReservation, { reservationId: 3, together: other }, ana);
  clock.at += 6000;
  await inject(routes.cancelReservation, { reservationId: 1, reason: '' }, ana);
  t.is(await decision({ reservationId: 3 }), GroupOutcome.ABORTED, 'its hold has lapsed');
});

/** All that a watcher receives until it has caught up. */
async function watch(
  { watchReservations }: ReturnType<typeof service>['routes'],
  userId: string,
  request: Partial<WatchReservationsRequest>,
): Promise<WatchReservationsResponse[]> {
  const leaving = new AbortController();
  const reported: WatchReservationsResponse[] = [];
  const writer = {
    drained: () => Promise.resolve(),
    write: (message: WatchReservationsResponse) => {
      reported.push(message);
      if (message.events.length === 0) leaving.abort();
      return true;
    },
  } as unknown as StreamWriter<WatchReservationsResponse>;
  await watchReservations(
    { afterSequence: 0, reservationId: 0, onlyNew: false, ...request },
    writer,
    aCallContext({ userId, signal: leaving.signal }),
  );
  return reported;
}

test('a watcher receives what concerns it from any sequence on, and others nothing', async (t) => {
  const { routes } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  await inject(routes.requestReservation, request(), ana);
  await inject(routes.cancelReservation, { reservationId: 1, reason: 'rain' }, ana);
  const reported = async (userId: string, afterSequence: number): Promise<string[]> =>
    (await watch(routes, userId, { afterSequence }))
      .flatMap(({ events }) => events)
      .map(({ sequence, type, reason }) => `${sequence} ${type} ${reason}`);
  t.deepEqual(await reported('ana', 0), [
    '1 resource.offered ',
    '2 reservation.confirmed at the earliest requested start',
    '3 reservation.cancelled rain',
  ]);
  t.deepEqual(await reported('owner', 2), ['3 reservation.cancelled rain']);
  t.deepEqual(await reported('bob', 1), []);
});

test('a watcher whose position is in another journal, or beyond the end, is refused; each message names the journal', async (t) => {
  const { routes } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  t.deepEqual(
    (await watch(routes, 'ana', { journalInstance: 'first' })).map(({ lastSequence, journalInstance }) => [
      lastSequence,
      journalInstance,
    ]),
    [
      [1, 'first'],
      [1, 'first'],
    ],
  );
  t.is(
    (await watch(routes, 'ana', { afterSequence: 1, journalInstance: 'first' })).length,
    1,
    'the end itself is a place to go on from',
  );
  t.deepEqual(
    (await watch(routes, 'ana', { afterSequence: 99, onlyNew: true, journalInstance: 'another' })).map(
      ({ lastSequence, journalInstance }) => [lastSequence, journalInstance],
    ),
    [[1, 'first']],
    'only what comes from now on has no place',
  );
  await t.throwsAsync(watch(routes, 'ana', { afterSequence: 2 }), {
    code: 'MUT_JOURNAL_POSITION',
    message: 'sequence 2 is beyond the end of journal first, which has 1 changes',
  });
  await t.throwsAsync(watch(routes, 'ana', { afterSequence: 1, journalInstance: 'another' }), {
    code: 'MUT_JOURNAL_POSITION',
    message: /is of journal another; this one is first/,
  });
});

test("users see their own reservations in pages, owners all of their resources'", async (t) => {
  const { routes } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  for (const userId of ['ana', 'bob', 'ana', 'ana']) await inject(routes.requestReservation, request(), { userId });
  const list = {
    pageSize: 2,
    beforeReservationId: 0,
    resourceId: '',
    statuses: [],
    fromUnixMs: 0,
    untilUnixMs: 0,
    allUsers: false,
  };
  const page = await inject(routes.listReservations, list, ana);
  t.deepEqual(
    page.reservations.map(({ reservationId }) => reservationId),
    [4, 3],
  );
  t.deepEqual(
    (
      await inject(routes.listReservations, { ...list, beforeReservationId: page.nextBeforeReservationId }, ana)
    ).reservations.map(({ reservationId }) => reservationId),
    [1],
  );
  t.is(
    (await inject(routes.listReservations, { ...list, pageSize: 10, allUsers: true }, owner)).reservations.length,
    4,
  );
  t.is(
    (await inject(routes.listReservations, { ...list, pageSize: 10, allUsers: true }, { userId: 'bob' })).reservations
      .length,
    1,
  );
  t.is(
    (await inject(routes.listReservations, { ...list, pageSize: 10, fromUnixMs: noon + hour }, ana)).reservations
      .length,
    0,
  );
  await t.throwsAsync(inject(routes.getReservation, { reservationId: 2 }, ana), { code: 'MUT_NOT_OWNER' });
  t.not((await inject(routes.getReservation, { reservationId: 1 }, ana)).reservation?.claim, '');
  t.is(
    (await inject(routes.getReservation, { reservationId: 1 }, owner)).reservation?.claim,
    '',
    'a claim is for its user alone',
  );
  await t.throwsAsync(inject(routes.listReservations, { ...list, pageSize: 5000 }, ana), { code: 'MUT_BAD_REQUEST' });
});

test('a page of reservations is bounded in bytes, however long their texts are', async (t) => {
  const { routes } = service(temporaryFolder(t));
  const longName = { userId: 'é'.repeat(40_000) };
  await inject(routes.registerResource, cluster, owner);
  for (let count = 0; count < 60; count += 1)
    await inject(routes.requestReservation, request({ amount: { $case: 'quantity', value: '16' } }), longName);
  const seen: number[] = [];
  let pages = 0;
  for (let before = 0; ; pages += 1) {
    const page = await inject(
      routes.listReservations,
      {
        pageSize: 100,
        beforeReservationId: before,
        resourceId: '',
        statuses: [],
        fromUnixMs: 0,
        untilUnixMs: 0,
        allUsers: false,
      },
      longName,
    );
    t.true(ListReservationsResponse.encode(page).finish().length < 4 * 1024 * 1024);
    seen.push(...page.reservations.map(({ reservationId }) => reservationId));
    before = page.nextBeforeReservationId;
    if (before === 0) break;
  }
  t.deepEqual(
    seen,
    Array.from({ length: 60 }, (_, index) => 60 - index),
  );
  t.true(pages > 0);
});

test('changes of many reservations at once come in messages that any client takes, and the position moves on with the last of them', async (t) => {
  const { routes } = service(temporaryFolder(t));
  const longName = { userId: 'é'.repeat(40_000) };
  const count = 60;
  await inject(routes.registerResource, cluster, owner);
  for (let made = 0; made < count; made += 1)
    await inject(routes.requestReservation, request({ amount: { $case: 'quantity', value: '16' } }), longName);
  await inject(
    routes.failResource,
    { resourceId: 'cluster', what: { $case: 'unitIndex', value: 9 }, reason: 'smoke' },
    owner,
  );
  const reported = (await watch(routes, longName.userId, { afterSequence: count + 1 })).slice(0, -1);
  for (const message of reported) t.true(WatchReservationsResponse.encode(message).finish().length < 4 * 1024 * 1024);
  t.is(reported.flatMap(({ events }) => events).filter(({ reservation }) => reservation !== undefined).length, count);
  t.true(reported.length > 1);
  t.deepEqual(
    reported.map(({ lastSequence }) => lastSequence),
    reported.map((_message, index) => (index < reported.length - 1 ? count + 1 : count + 2)),
  );
  const { lastSequence: afterSequence = 0, lastEventCount: afterEventCount } = reported[0] ?? {};
  const rest = (await watch(routes, longName.userId, { afterSequence, afterEventCount })).slice(0, -1);
  t.deepEqual(
    [...reported.slice(0, 1), ...rest],
    reported,
    'a watcher that resumes behind the first one gets the others',
  );
});

test('a calendar shows how much is taken over a window', async (t) => {
  const { routes } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  await inject(routes.requestReservation, request({ earliestStartUnixMs: noon + hour }), ana);
  const { slots, resource } = await inject(
    routes.getCalendar,
    { resourceId: 'cluster', fromUnixMs: 0, untilUnixMs: noon + 3 * hour },
    ana,
  );
  t.deepEqual(
    slots.map(({ startUnixMs, endUnixMs, used }) => [(startUnixMs - noon) / hour, (endUnixMs - noon) / hour, used]),
    [
      [0, 1, 0],
      [1, 2, 4],
      [2, 3, 0],
    ],
  );
  t.is(resource?.reservationCount, 1);
  await t.throwsAsync(
    inject(routes.getCalendar, { resourceId: 'cluster', fromUnixMs: noon, untilUnixMs: noon - hour }, ana),
    {
      code: 'MUT_BAD_REQUEST',
      message:
        /^the window begins at 2\d{3}-\d\d-\d\dT12:00:00Z and ends at 2\d{3}-\d\d-\d\dT11:00:00Z; expected its end after its beginning/,
    },
  );
  await t.throwsAsync(inject(routes.getCalendar, { resourceId: 'clutser', fromUnixMs: 0, untilUnixMs: 0 }, ana), {
    code: 'MUT_UNKNOWN_RESOURCE',
    message: /did you mean "cluster"/,
  });
});

test('the key of claims is for its owner alone', (t) => {
  const path = join(temporaryFolder(t), 'keys', 'claim-key.pem');
  const { keyId } = openClaimSigner(path, 'local');
  t.is(statSync(path).mode & 0o777, 0o600);
  t.is(openClaimSigner(path, 'local').keyId, keyId);
  chmodSync(path, 0o640);
  t.throws(() => openClaimSigner(path, 'local'), { code: 'MUT_TOKEN_UNSAFE', message: /mode 640; expected 600/ });
});

test('an endless duration is refused, and one of an old journal hides no other reservation from the reader', async (t) => {
  const { routes, state } = service(temporaryFolder(t));
  await inject(routes.registerResource, cluster, owner);
  for (const durationMs of [Number.MAX_SAFE_INTEGER, 9_004_000_000_000_000]) {
    await t.throwsAsync(inject(routes.requestReservation, request({ durationMs }), ana), {
      code: 'MUT_RESERVATION_TOO_LONG',
      message: /expected at most/,
    });
  }
  await inject(routes.requestReservation, request(), ana);
  const known = state.reservations.get(1);
  if (known === undefined) return t.fail('there is no reservation');
  const place = { ...known.place, id: 2, start: noon + hour, end: Number.MAX_SAFE_INTEGER, resources: [0, 1, 2, 3] };
  reservationsMachine.apply(state, {
    kind: 'ReservationsPut',
    reported: [{ fact: 'confirmed', reservation: { ...known, place } }],
  });
  const list = {
    pageSize: 10,
    beforeReservationId: 0,
    resourceId: '',
    statuses: [],
    fromUnixMs: 0,
    untilUnixMs: 0,
    allUsers: false,
  };
  const carried = ListReservationsResponse.decode(
    ListReservationsResponse.encode(await inject(routes.listReservations, list, ana)).finish(),
  );
  return t.deepEqual(
    carried.reservations.map(({ endUnixMs }) => endUnixMs),
    [instantMax, noon + hour],
  );
});

test('a key is good for one spec, also after a restart, and one of an older journal for any', async (t) => {
  const folder = temporaryFolder(t);
  const first = service(folder);
  await inject(first.routes.registerResource, cluster, owner);
  const asked = request({}, { clientRequestId: 'k' });
  await inject(first.routes.requestReservation, asked, ana);
  first.journal.close();
  const { routes, journal } = service(folder);
  const again = await inject(routes.requestReservation, asked, ana);
  t.is(again.outcome?.$case === 'reservation' ? again.outcome.value.reservationId : 0, 1);
  await t.throwsAsync(
    inject(routes.requestReservation, request({ durationMs: 2 * hour }, { clientRequestId: 'k' }), ana),
    { code: 'MUT_KEY_REUSED', message: /"k" is of reservation 1 of cluster/ },
  );
  const body = JSON.parse(
    String(journal.database.prepare('SELECT body FROM reservations_now WHERE id = 1').get()?.['body']),
  ) as unknown[];
  journal.database.prepare('UPDATE reservations_now SET body = ? WHERE id = 1').run(JSON.stringify(body.slice(0, 18)));
  journal.close();
  const older = await inject(
    service(folder).routes.requestReservation,
    request({ durationMs: 2 * hour }, { clientRequestId: 'k' }),
    ana,
  );
  t.is(older.outcome?.$case === 'reservation' ? older.outcome.value.reservationId : 0, 1);
});
