import { useEffect, useRef, useState, type ReactNode, type SubmitEvent } from 'react';
import type { RouteReply } from '../../../../src/schema/index.ts';
import { getProblem } from '../../gateway/gateway.ts';
import {
  getQuantity,
  refuseSlot,
  sayAmount,
  type ReservableResource,
  type Reservation,
  type Slot,
} from '../../model/calendar.ts';
import { sayDuration, sayTimeZone } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';

/** What is wanted: a new reservation, or another slot for one that there is. */
export type Spec =
  | { readonly kind: 'request'; readonly slot: Slot }
  | { readonly kind: 'change'; readonly reservation: Reservation; readonly slot: Slot };

type Placement = RouteReply<'requestReservation'>;

/** Requests a slot, shows why it was refused, and offers alternatives. */
export function ReservationForm({
  resource,
  spec,
  show,
  close,
  done,
}: {
  readonly resource: ReservableResource;
  readonly spec: Spec;
  /** Takes the slot as it is typed, to be drawn. */
  readonly show: (slot: Slot) => void;
  readonly close: () => void;
  readonly done: () => void;
}): ReactNode {
  const [slot, setSlot] = useState(spec.slot);
  const [latest, setLatest] = useState<number>();
  const { refused, isAsking, submit } = useReserving(resource, spec, done);
  // A reservation that has started keeps its start.
  const fault = refuseSlot(slot, resource, spec.kind === 'request' ? Date.now() : undefined);
  useEffect(() => show(slot), [show, slot]);
  const panel = useRef<HTMLElement>(null);
  // In braces: newer browsers answer a promise, which React would call as if it cleaned up.
  useEffect(() => {
    void panel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <section className="panel reservation-form" ref={panel} aria-labelledby="reservation-form-title">
      <header>
        <h2 id="reservation-form-title">
          {spec.kind === 'request'
            ? `Reserve ${resource.resource_id}`
            : `Change reservation ${spec.reservation.reservation_id}`}
        </h2>
      </header>
      <form
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault();
          submit(slot, latest ?? slot.end);
        }}
      >
        <SlotFields resource={resource} slot={slot} setSlot={setSlot} latest={latest} setLatest={setLatest} />
        {fault === undefined ? (
          <p className="hint">
            {getLength(slot, latest ?? slot.end)}; times are in the zone {sayTimeZone()}
          </p>
        ) : (
          <p className="refusal">{fault}</p>
        )}
        {refused === undefined ? null : (
          <Refusal
            refused={refused}
            resource={resource}
            take={(next) => {
              setSlot(next);
              setLatest(undefined);
              submit(next, next.end);
            }}
          />
        )}
        <p className="row">
          <button type="submit" className="primary" disabled={isAsking || fault !== undefined}>
            {isAsking ? 'Sending …' : spec.kind === 'request' ? 'Reserve' : 'Change'}
          </button>
          <button type="button" onClick={close}>
            Close
          </button>
        </p>
      </form>
    </section>
  );
}

/** Asks for a slot, and what was answered last. */
function useReserving(
  resource: ReservableResource,
  spec: Spec,
  done: () => void,
): {
  readonly refused: Refused | undefined;
  readonly isAsking: boolean;
  readonly submit: (wanted: Slot, end: number) => void;
} {
  const { say } = usePage();
  const [refused, setRefused] = useState<Refused>();
  const [isAsking, setIsAsking] = useState(false);
  const place = usePlacing(resource, spec);
  const ask = async (wanted: Slot, end: number): Promise<void> => {
    setIsAsking(true);
    setRefused(undefined);
    const answer = await place(wanted, end);
    if (!answer.placed) {
      setRefused({ message: answer.message, alternatives: answer.alternatives });
      return;
    }
    say(
      spec.kind === 'request'
        ? `Reservation ${answer.reservation?.reservation_id ?? ''} is made.`
        : `Reservation ${spec.reservation.reservation_id} is changed.`,
    );
    done();
  };
  const submit = (wanted: Slot, end: number): void => {
    ask(wanted, end)
      .catch((error: unknown) => setRefused({ message: getProblem(error).message, alternatives: [] }))
      .finally(() => setIsAsking(false));
  };
  return { refused, isAsking, submit };
}

/** How much, from when until when, and how late it may be. */
function SlotFields({
  resource,
  slot,
  setSlot,
  latest,
  setLatest,
}: {
  readonly resource: ReservableResource;
  readonly slot: Slot;
  readonly setSlot: (slot: Slot) => void;
  readonly latest: number | undefined;
  readonly setLatest: (end: number) => void;
}): ReactNode {
  return (
    <div className="fields">
      <div className="field">
        <label htmlFor="slot-amount">
          How much <span className="faint">of {sayAmount(resource.total, resource)}</span>
        </label>
        <input
          id="slot-amount"
          type="number"
          min={1}
          max={resource.total}
          value={slot.amount}
          onChange={(event) => setSlot({ ...slot, amount: Math.round(event.target.valueAsNumber) || 0 })}
        />
      </div>
      <Moment
        id="slot-start"
        label="From"
        value={slot.start}
        onChange={(start) => setSlot({ ...slot, start, end: start + (slot.end - slot.start) })}
      />
      <Moment id="slot-end" label="Until" value={slot.end} onChange={(end) => setSlot({ ...slot, end })} />
      <Moment
        id="slot-latest"
        label="At the latest"
        hint="may start later, and end by then"
        value={latest ?? slot.end}
        onChange={(end) => setLatest(end)}
      />
    </div>
  );
}

function getLength({ start, end }: Slot, latest: number): string {
  return latest > end
    ? `${sayDuration(end - start)}, anywhere within ${sayDuration(latest - start)}`
    : sayDuration(end - start);
}

interface Refused {
  readonly message: string;
  readonly alternatives: Placement['alternatives'];
}

function Refusal({
  refused: { message, alternatives },
  resource,
  take,
}: {
  readonly refused: Refused;
  readonly resource: ReservableResource;
  readonly take: (slot: Slot) => void;
}): ReactNode {
  return (
    <div className="refusal" role="alert">
      <p>{message}</p>
      {alternatives.length === 0 ? null : (
        <p>
          <b>Alternatives:</b>
        </p>
      )}
      <ul className="alternatives">
        {alternatives.map(({ start_unix_ms: start, end_unix_ms: end, amount, reason }, index) => (
          <li key={index}>
            <span>
              {sayAmount(amount, resource)} from {findWhen(start)} to {findWhen(end)}{' '}
              <span className="faint">{reason?.text}</span>
            </span>
            <button type="button" className="small" onClick={() => take({ start, end, amount })}>
              Use this
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The call that asks, with one key for all that is asked alike. */
function usePlacing(
  { resource_id: resourceId, kind, total }: ReservableResource,
  spec: Spec,
): (slot: Slot, latestEnd: number) => Promise<Placement> {
  const { gateway } = usePage();
  const keys = useRef(new Map<string, string>());
  return (slot, latestEnd) => {
    const body = {
      quantity: getQuantity({ kind, total }, slot.amount),
      duration_ms: slot.end - slot.start,
      earliest_start_unix_ms: slot.start,
      latest_end_unix_ms: Math.max(slot.end, latestEnd),
    };
    if (spec.kind === 'change')
      return gateway.call('renegotiateReservation', {
        params: { reservation_id: spec.reservation.reservation_id },
        body,
      });
    const said = JSON.stringify(body);
    const key = keys.current.get(said) ?? crypto.randomUUID();
    keys.current.set(said, key);
    return gateway.call('requestReservation', { body: { ...body, resource_id: resourceId, client_request_id: key } });
  };
}

function Moment({
  id,
  label,
  hint,
  value,
  onChange,
}: {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: number;
  readonly onChange: (instant: number) => void;
}): ReactNode {
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {hint === undefined ? null : <span className="faint"> {hint}</span>}
      </label>
      <input
        id={id}
        type="datetime-local"
        value={getLocal(value)}
        onChange={(event) => {
          const instant = new Date(event.target.value).getTime();
          if (Number.isFinite(instant)) onChange(instant);
        }}
      />
    </div>
  );
}

/** As a field of local time takes it. */
function getLocal(instant: number): string {
  if (!Number.isFinite(instant)) return '';
  return new Date(instant - new Date(instant).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function findWhen(instant: number): string {
  return new Date(instant).toLocaleString(undefined, {
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    day: 'numeric',
    month: 'short',
  });
}
