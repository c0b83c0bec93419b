import test from 'ava';
import { OnReservationEnd, type SubmitJobRequest } from '@mutirao/api/broker';
import { ReservationStatus, type Reservation } from '@mutirao/api/reservation';
import { aClaim, runCommandLine, type CommandResult } from '@mutirao/testkit';

/** Submits a job with a manager that knows one reservation, and returns what the broker was sent. */
async function submit(
  options: readonly string[],
  known: Partial<Reservation> = {},
): Promise<CommandResult & { readonly sent: SubmitJobRequest | undefined }> {
  const sent: SubmitJobRequest[] = [];
  const broker = {
    submitJob: (request: SubmitJobRequest) =>
      Promise.resolve({ jobId: sent.push(request), taskCount: 1, warnings: [] }),
  };
  const reservation = {
    status: ReservationStatus.CONFIRMED,
    reason: undefined,
    claim: aClaim(),
    ...known,
  } as Reservation;
  const reservations = { getReservation: () => Promise.resolve({ reservation }) };
  const result = await runCommandLine(['job', 'submit', '--reservations', 'h:1', ...options, '--', 'true'], {
    broker,
    reservations,
  });
  return { ...result, sent: sent[0] };
}

test('a reservation by its number is sent by its claim, and one by its claim as it is', async (t) => {
  const byNumber = await submit(['--reservation', '7']);
  t.deepEqual(byNumber.sent?.job?.reservation, { claim: aClaim(), after: OnReservationEnd.CONTINUE });
  const other = aClaim({ jti: '8.2' });
  const byClaim = await submit(['--reservation', other, '--on-reservation-end', 'wait']);
  t.deepEqual(byClaim.sent?.job?.reservation, { claim: other, after: OnReservationEnd.WAIT });
});

test('a reservation that is only held, or over, is refused with what would do, and nothing is submitted', async (t) => {
  for (const [status, code, wanted] of [
    [ReservationStatus.HELD, 'MUT_CLAIM_UNCONFIRMED', /reservation confirm 7/],
    [ReservationStatus.CANCELLED, 'MUT_RESERVATION_OVER', /is cancelled \(no more\); expected one that is confirmed/],
    [ReservationStatus.EXPIRED, 'MUT_CLAIM_LATE', /is expired/],
    [ReservationStatus.RELEASED, 'MUT_RESERVATION_OVER', /is released/],
  ] as const) {
    const {
      err,
      sent,
      status: exit,
    } = await submit(['--reservation', '7'], { status, reason: { code: '', parameters: {}, text: 'no more' } });
    t.true(err.startsWith(`error: ${code} `), err);
    t.regex(err, wanted);
    t.is(sent, undefined);
    t.not(exit, 0);
  }
});

test('impossible requests are refused: no number, no claim, options without a reservation, a grid of its own', async (t) => {
  const refused = async (code: string, ...options: string[]): Promise<void> => {
    const { err, sent } = await submit(options);
    t.true(err.startsWith(`error: ${code} `), err);
    t.is(sent, undefined);
  };
  await refused('MUT_BAD_REQUEST', '--reservation', 'seven');
  await refused('MUT_BAD_REQUEST', '--reservation', '0');
  await refused('MUT_CLAIM_FORGED', '--reservation', 'a.b.c');
  await refused('MUT_BAD_REQUEST', '--on-reservation-end', 'wait');
  await refused('MUT_BAD_REQUEST', '--reservation', '7', '--on-reservation-end', 'perhaps');
  await refused('MUT_BAD_REQUEST', '--standalone', '--reservation', '7');
});
