import test from 'ava';
import type { GetJobResponse, SubmitJobRequest } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import {
  ReservationStatus,
  ResourceKind,
  type CancelReservationRequest,
  type RequestReservationRequest,
  type Reservation,
  type Resource,
} from '@mutirao/api/reservation';
import { aClaim, runCommandLine, type CommandResult } from '@mutirao/testkit';

const minute = 60_000;

/** What a submission with a deadline in an hour meets. */
interface Meeting {
  readonly options?: readonly string[];
  /** The resources, and when each has done the work; a refusal's code where there is no place. */
  readonly places?: Readonly<Record<string, number | string>>;
  readonly earlier?: Partial<GetJobResponse>;
  readonly refusedByBroker?: true;
}

interface Met extends CommandResult {
  readonly sent: SubmitJobRequest | undefined;
  readonly asked: readonly RequestReservationRequest[];
  readonly cancelled: readonly CancelReservationRequest[];
}

async function submit({
  options = ['--task-time', '10m'],
  places = { alpha: 30 * minute },
  earlier,
  refusedByBroker,
}: Meeting = {}): Promise<Met> {
  const sent: SubmitJobRequest[] = [];
  const asked: RequestReservationRequest[] = [];
  const cancelled: CancelReservationRequest[] = [];
  const broker = {
    submitJob: (request: SubmitJobRequest) =>
      refusedByBroker === true
        ? Promise.reject(new MutiraoError('MUT_BAD_REQUEST', 'no'))
        : Promise.resolve({ jobId: sent.push(request), taskCount: 4, warnings: [] }),
    listProviders: () =>
      Promise.resolve({
        providers: Object.keys(places).map((name) => ({
          providerId: `p-${name}`,
          address: 'h:1',
          connected: true,
          lastError: '',
          drainingReason: '',
          runningTasks: 0,
          machines: 0,
          resourceId: name,
        })),
      }),
    listJobs: () => Promise.resolve({ jobs: earlier === undefined ? [] : [{ jobId: 3, label: 'other' }] } as never),
    getJob: () => Promise.resolve(earlier as GetJobResponse),
  };
  const reservations = {
    listResources: () =>
      Promise.resolve({
        resources: [...Object.keys(places), 'elsewhere'].map(
          (resourceId) =>
            ({ resourceId, kind: ResourceKind.UNITS, total: 4, failed: 0, rules: { capPercent: 50 } }) as Resource,
        ),
      }),
    requestReservation: (request: RequestReservationRequest) => {
      asked.push(request);
      const end = places[request.spec?.resourceId ?? ''] ?? 'MUT_UNKNOWN_RESOURCE';
      const place = (endUnixMs: number) => ({
        outcome: {
          $case: 'reservation' as const,
          value: {
            reservationId: 7,
            resourceId: request.spec?.resourceId ?? '',
            status: ReservationStatus.CONFIRMED,
            amount: 2,
            startUnixMs: 5 * minute,
            endUnixMs,
            claim: aClaim(),
          } as Reservation,
        },
        movedCount: 0,
      });
      if (typeof end === 'number') return Promise.resolve(place(end));
      if (end === 'MUT_WINDOW_TOO_SHORT' && request.spec?.latestEndUnixMs === undefined)
        return Promise.resolve(place(90 * minute));
      if (end !== 'MUT_NO_ROOM') return Promise.reject(new MutiraoError(end as 'MUT_UNREACHABLE', 'says why'));
      const alternatives = [
        {
          startUnixMs: 50 * minute,
          endUnixMs: 80 * minute,
          amount: 2,
          reason: { code: '', parameters: {}, text: 'later' },
        },
      ];
      return Promise.resolve({
        outcome: {
          $case: 'refusal' as const,
          value: { code: end, message: 'is full', alternatives, reason: undefined },
        },
        movedCount: 0,
      });
    },
    cancelReservation: (request: CancelReservationRequest) =>
      Promise.resolve({ reservation: cancelled.push(request) as never }),
  };
  const result = await runCommandLine(
    [
      'job',
      'submit',
      '--reservations',
      'h:1',
      ...(options.includes('--deadline') ? [] : ['--deadline', '1970-01-01T01:00:00Z']),
      ...options,
      '--array',
      '1-4',
      '--',
      'work {}',
    ],
    { broker, reservations },
  );
  return { ...result, sent: sent[0], asked, cancelled };
}

test('a job with a deadline gets the place that has done its work the earliest, as its own reservation', async (t) => {
  const { sent, asked, err, status } = await submit({
    places: { alpha: 40 * minute, beta: 30 * minute, gamma: 50 * minute },
  });
  t.is(status, 0);
  t.deepEqual(sent?.job?.reservation, { claim: aClaim(), after: 1, own: true });
  t.deepEqual(
    asked.map(({ spec, dryRun }) => [spec?.resourceId, dryRun]),
    [
      ['alpha', true],
      ['beta', true],
      ['gamma', true],
      ['beta', false],
    ],
  );
  t.regex(err, /^Reservation 7 is its own: 2 of beta from .* until .*, with tasks taken to last 10m00s, as you say/);
});

test('it is as large as Graham says of the tasks, on no more processors than there are tasks or than may be reserved', async (t) => {
  const { asked } = await submit();
  // Half of 4 processors may be reserved; 4 tasks of 10 minutes and one more that may begin last, and a tenth.
  t.deepEqual(asked[0]?.spec?.amount, {
    $case: 'malleable',
    value: { workUnitMs: 55 * minute, amountMin: 1, amountMax: 2 },
  });
  t.is(asked[0]?.spec?.latestEndUnixMs, 60 * minute);
});

test('by default, the newest job of the same command supplies the task time', async (t) => {
  const taskTimes = { endedCount: 9, cutOffCount: 0, p90Ms: 6 * minute, ninetyNinthMsMax: 8 * minute };
  const earlier = (command: string): Partial<GetJobResponse> => ({
    taskTimes,
    spec: { groups: [{ command }] } as never,
  });
  const { asked, err } = await submit({ options: [], earlier: earlier('work {}') });
  t.deepEqual(asked[0]?.spec?.amount, {
    $case: 'malleable',
    value: { workUnitMs: ((4 * 6 + 8) * minute * 11) / 10, amountMin: 1, amountMax: 2 },
  });
  t.regex(err, /last 6m00s, as nine tenths of those of job 3 did/);
  const other = await submit({ options: [], earlier: earlier('play {}') });
  t.is(
    other.err,
    'Nothing is reserved for the deadline: how long its tasks take is not known yet; --task-time says it.\n',
  );
  t.is(other.sent?.job?.reservation, undefined);
});

test('a refusal is printed with its alternatives, and the job is submitted all the same', async (t) => {
  const { sent, err, status, asked } = await submit({ places: { alpha: 'MUT_NO_ROOM' } });
  t.is(status, 0);
  t.not(sent, undefined);
  t.is(sent?.job?.reservation, undefined);
  t.regex(err, /^alpha: MUT_NO_ROOM is full\n/);
  t.regex(err, /ALTERNATIVE[^]*\nlater +2 /);
  t.regex(err, /Nothing is reserved for the deadline: no resource has enough free capacity before then\.\n$/);
  t.true(asked.every(({ dryRun }) => dryRun));
});

test('a deadline that is too near for the work is answered with the earliest end that would do', async (t) => {
  const { sent, err } = await submit({ places: { alpha: 'MUT_WINDOW_TOO_SHORT' } });
  t.is(sent?.job?.reservation, undefined);
  t.regex(err, /^alpha: MUT_WINDOW_TOO_SHORT says why\n/);
  t.regex(err, /\nwith a later deadline +2 /);
});

test('a manager that is away, resources that nobody stands for, and tasks of two processors keep no job back', async (t) => {
  for (const [meeting, why] of [
    [{ places: { alpha: 'MUT_UNREACHABLE' } }, /: MUT_UNREACHABLE says why\.\n$/],
    [{ places: {} }, /: no provider that is there has a resource that can be reserved\.\n$/],
    [{ options: ['--task-time', '1m', '--processors', '2'] }, /: its tasks take 2 processors each/],
  ] as const) {
    const { sent, err, status } = await submit(meeting);
    t.is(status, 0, err);
    t.is(sent?.job?.reservation, undefined);
    t.regex(err, why);
  }
});

test('--no-reservation asks for nothing', async (t) => {
  const { status, out, err } = await runCommandLine(
    ['job', 'submit', '--deadline', '1970-01-01T01:00:00Z', '--no-reservation', '--', 'true'],
    {
      broker: {
        submitJob: ({ job }) =>
          Promise.resolve({ jobId: 1, taskCount: job?.reservation === undefined ? 1 : 99, warnings: [] }),
      },
    },
  );
  t.is(status, 0, err);
  t.regex(out, /Job 1 is submitted with 1 task\./);
  t.is(err, '');
});

test('what was reserved for a job that the broker refuses is given back', async (t) => {
  const { status, cancelled, err } = await submit({ refusedByBroker: true });
  t.not(status, 0);
  t.deepEqual(
    cancelled.map(({ reservationId }) => reservationId),
    [7],
  );
  t.regex(err, /Cancelled reservation 7\./);
});

test('a deadline is read as the limits of a reservation are: a time of day, or one that counts from now', async (t) => {
  for (const [deadline, at] of [
    ['+2h', 7_200_000],
    ['1970-01-01T05:00:00Z', 18_000_000],
    ['1970-01-01 05:00Z', 18_000_000],
  ] as const) {
    const { sent, err } = await submit({ options: ['--deadline', deadline] });
    t.is(sent?.job?.deadlineUnixMs, at, err);
  }
  const { status, err } = await submit({ options: ['--deadline', '-5m'] });
  t.not(status, 0);
  t.regex(err, /the time is "-5m"; expected 14:00, .* \+30m/);
});

test('a deadline that has passed and options that contradict each other are refused before anything is asked', async (t) => {
  for (const [options, why] of [
    [['--deadline', '1969-12-31T23:00:00Z'], /--deadline is .* ago; expected a future time/],
    [['--task-time', '0s'], /--task-time is "0s"/],
    [['--task-time', 'long'], /long/],
    [['--no-reservation'], /--reservations cannot be used with --no-reservation/],
    [['--reservation', '7', '--task-time', '1m'], /--task-time needs --deadline/],
    [['--on-reservation-end', 'wait'], /--on-reservation-end without --reservation/],
  ] as const) {
    const { sent, asked, err, status } = await submit({ options });
    t.not(status, 0, options.join(' '));
    t.is(sent, undefined);
    t.is(asked.length, 0, err);
    t.regex(err, why);
  }
});
