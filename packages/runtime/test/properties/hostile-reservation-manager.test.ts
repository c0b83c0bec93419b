// Whatever a reservation manager says in any field of an answer, those who honour its reservations live, and their
// cluster or provider stays whole.
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { ProvisioningState, ReservationServiceService, type Reservation } from '@mutirao/api/reservation';
import { clusterMachine, createClusterState } from '@mutirao/core/machines/cluster';
import { createProviderState, providerDefaults, providerMachine } from '@mutirao/core/machines/provider';
import type { ReservedWindow } from '@mutirao/core/messages';
import { conservativeBackfilling } from '@mutirao/core/queue';
import { openClaimSigner, type ClaimSigner } from '@mutirao/runtime/claims';
import { quietLogger } from '@mutirao/runtime/log';
import { ReservationClient } from '@mutirao/runtime/reservations';
import {
  aReservationWire,
  hostileMessages,
  messagesOfMethod,
  FakeReservations,
  aSentence,
  temporaryFolder,
} from '@mutirao/testkit';

const held = {
  status: ProvisioningState.QUEUED,
  heldUnits: 1,
  askedUnits: 3,
  askUnixMs: 0,
  expectedUnixMs: 4000,
  chancePercent: 75,
  reasons: [aSentence('it waits')],
};
const reservation: Reservation = {
  ...aReservationWire(),
  units: [{ first: 0, count: 2 }],
  latestEndUnixMs: 9000,
  reason: { code: '', parameters: {}, text: 'why' },
  provisioning: held,
  together: { groupId: 'a-name-of-twenty-chars', managerAddress: 'h:1', reservationId: 1 },
};

/** Lets all happen that needs no time. */
async function settle(): Promise<void> {
  for (let round = 0; round < 10; round += 1) await turn();
}

/** Delivers windows to the cluster and the provider of a resource. @throws what they break. */
function useWindows(windows: readonly ReservedWindow[]): void {
  const cluster = createClusterState({
    processors: 4,
    requestsMax: 50,
    walltimeMax: 10_000,
    widthMax: 4,
    walltimeGranularity: 1000,
    endedMax: 10,
    policy: conservativeBackfilling('start-now'),
  });
  clusterMachine.step(cluster, [{ kind: 'ClusterStarted' }, { kind: 'ReservationsReported', windows }], 500);
  clusterMachine.step(cluster, [{ kind: 'TimerFired' }], 6000);
  clusterMachine.checkInvariants(cluster);
  const provider = createProviderState({ ...providerDefaults, providerId: 'p' });
  providerMachine.step(
    provider,
    [
      { kind: 'ProviderStarted', instance: 'i' },
      {
        kind: 'LimitsRead',
        limits: { processors: 4, requestsMax: 10, walltimeMax: 60_000, widthMax: 4, walltimeGranularity: 1000 },
      },
      { kind: 'WindowsReported', windows },
    ],
    500,
  );
  providerMachine.step(provider, [{ kind: 'TimerFired' }], 6000);
  providerMachine.checkInvariants(provider);
}

/** A desk whose manager answers one method so. */
async function tryAnswer(
  t: ExecutionContext,
  {
    signer,
    folder,
    name,
    response,
    what,
  }: {
    readonly signer: ClaimSigner;
    readonly folder: string;
    readonly name: string;
    readonly response: unknown;
    readonly what: string;
  },
): Promise<void> {
  const manager = new FakeReservations(signer);
  manager.reservations = [reservation];
  manager.forged = new Map([[name, response]]);
  const reported: (readonly ReservedWindow[])[] = [];
  const client = new ReservationClient({
    address: 'h:1',
    resourceId: 'alpha',
    processors: 4,
    token: () => 'secret',
    keysPath: join(folder, 'claim-keys.json'),
    log: quietLogger,
    now: () => 0,
    connect: () => manager.connect(),
    sleep: (_delay, signal) =>
      signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              resolve();
            });
          }),
    onReported: (windows) => {
      reported.push(windows);
    },
  });
  client.start();
  await settle();
  try {
    reported.push([await client.admit(manager.claim(), 'ana')]);
  } catch (error) {
    if (!(error instanceof MutiraoError) || error.code === 'MUT_INTERNAL') t.fail(`${what}: ${String(error)}`);
  }
  client.noteUse({ reservationId: 7, userId: 'ana' });
  await settle();
  await client.stop();
  try {
    reported.forEach(useWindows);
  } catch (error) {
    t.fail(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

test('no field of any answer of a reservation manager ends or confuses those who honour its reservations', async (t) => {
  const folder = temporaryFolder(t);
  const signer = openClaimSigner(join(folder, 'claim-key.pem'), 'local');
  const answers = {
    getClaimKeys: {
      issuer: 'local',
      keys: [{ keyId: signer.keyId, publicKey: signer.publicKey, publicKeyPem: signer.publicKeyPem }],
    },
    listResources: { resources: [] },
    registerResource: { resource: undefined },
    listReservations: { reservations: [reservation], nextBeforeReservationId: 0 },
    verifyReservation: { valid: true, code: 'MUT_CLAIM_SUPERSEDED', message: 'moved', reservation, presentClaim: '' },
    claimReservation: { reservation },
    reportProvisioning: {},
    watchReservations: {
      events: [
        {
          sequence: 1,
          atUnixMs: 5,
          type: 'reservation.moved',
          reservation,
          resource: undefined,
          reason: 'why',
          cause: undefined,
        },
      ],
      lastSequence: 1,
    },
  };
  let count = 0;
  for (const [name, answer] of Object.entries(answers) as [keyof typeof answers, never][]) {
    const { path, responseSerialize, responseDeserialize } = ReservationServiceService[name];
    for (const { what, bytes } of hostileMessages(messagesOfMethod(path).response, responseSerialize(answer))) {
      let response: unknown;
      try {
        response = responseDeserialize(bytes);
      } catch {
        continue; // The client refuses it before anybody sees it.
      }
      count += 1;
      await tryAnswer(t, { signer, folder: temporaryFolder(t), name, response, what });
    }
  }
  t.log(`${count} answers`);
  t.true(count > 300);
});
