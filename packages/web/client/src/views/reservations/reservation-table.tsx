import type { ReactNode } from 'react';
import { getProblem } from '../../gateway/gateway.ts';
import { isOpen, sayAmount, type ReservableResource, type Reservation } from '../../model/calendar.ts';
import { sayDuration } from '../../model/words.ts';
import { copyText, describeCopyFault } from '../../parts/copy-text.ts';
import { usePage } from '../../page-context.tsx';
import { Empty } from '../../parts/notices.tsx';

/** The reservations in the window that the viewer may see; her own may be changed and cancelled. */
export function ReservationTable({
  resource,
  reservations,
  change,
  done,
}: {
  readonly resource: ReservableResource;
  readonly reservations: readonly Reservation[];
  readonly change: (reservation: Reservation) => void;
  readonly done: () => void;
}): ReactNode {
  if (reservations.length === 0) return <Empty title="There are no reservations that you may see in the time shown." />;
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Table of reservations">
      <table>
        <thead>
          <tr>
            <th scope="col">Number</th>
            <th scope="col">User</th>
            <th scope="col">Status</th>
            <th scope="col" className="right">
              How much
            </th>
            <th scope="col">From</th>
            <th scope="col">For</th>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {reservations.slice(0, 200).map((one) => (
            <Line key={one.reservation_id} resource={resource} reservation={one} change={change} done={done} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({
  resource,
  reservation,
  change,
  done,
}: {
  readonly resource: ReservableResource;
  readonly reservation: Reservation;
  readonly change: (reservation: Reservation) => void;
  readonly done: () => void;
}): ReactNode {
  const { gateway, say } = usePage();
  const {
    reservation_id: id,
    user_id: user,
    is_mine: isMine,
    status,
    amount,
    start_unix_ms: start,
    end_unix_ms: end,
    provisioning: ahead,
    reason,
  } = reservation;
  const cancel = (): void => {
    if (!window.confirm(`Cancel reservation ${id}?`)) return;
    gateway
      .call('cancelReservation', { params: { reservation_id: id }, body: { reason: 'cancelled on the page' } })
      .then(
        () => {
          say(`Reservation ${id} is cancelled.`);
          done();
        },
        (error: unknown) => say(getProblem(error).message, true),
      );
  };
  return (
    <tr>
      <td className="numbers">{id}</td>
      <td>{isMine ? 'yours' : user}</td>
      <td className="reasons">
        <span className={`state ${status}`}>{status}</span>
        {reason === null ? null : <span className="faint"> {reason.text}</span>}
        {ahead === null ? null : <span className="faint"> held ahead: {ahead.status}</span>}
      </td>
      <td className="right numbers">{sayAmount(amount, resource)}</td>
      <td className="numbers">
        {new Date(start).toLocaleString(undefined, {
          weekday: 'short',
          day: 'numeric',
          month: 'short',
          hour: '2-digit',
          minute: '2-digit',
        })}
      </td>
      <td className="numbers">{sayDuration(end - start)}</td>
      <td className="right numbers actions">
        {isMine && isOpen(reservation) ? (
          <>
            <CopyCommand id={id} />{' '}
            <button
              type="button"
              className="small"
              onClick={() => change(reservation)}
              aria-label={`Change reservation ${id}`}
            >
              Change
            </button>{' '}
            <button type="button" className="small danger" onClick={cancel} aria-label={`Cancel reservation ${id}`}>
              Cancel
            </button>
          </>
        ) : null}
      </td>
    </tr>
  );
}

/** Copies the command that submits a job into a reservation. */
function CopyCommand({ id }: { readonly id: number }): ReactNode {
  const { say } = usePage();
  const command = `mutirao job submit --reservation ${id} -- `;
  const copy = (): void => {
    copyText(Promise.resolve(command)).then(
      () => say(`Copied: ${command}… Add what the tasks run.`),
      (error: unknown) => say(describeCopyFault(error), true),
    );
  };
  return (
    <button type="button" className="small" onClick={copy} aria-label={`Use reservation ${id}: copies the command`}>
      Use
    </button>
  );
}
