import { useState, type ReactNode } from 'react';
import type { AllocationRequest, ProviderDetail, ProviderList } from '../../../../src/schema/index.ts';
import { sayDraining, sayProvider } from '../../model/provider-words.ts';
import { sayAgo, sayCount, sayDuration, sayMany } from '../../model/words.ts';
import { useAnswer, useLive, usePage } from '../../page-context.tsx';
import { Answered, Empty, Loading, Panel } from '../../parts/notices.tsx';
import { QueuePicture } from './queue-picture.tsx';

/** Each provider: its requests, and the queue of its resource as a picture. */
export function ProvidersPanel(): ReactNode {
  const list = useLive((state) => state.providers);
  const [chosen, setChosen] = useState<string>();
  const providerId = choose(list?.providers ?? [], chosen);
  if (list === undefined || providerId === undefined) {
    return (
      <Panel title="Requests" className="wide">
        {list === undefined ? (
          <Loading what="the providers" />
        ) : (
          <Empty title="No providers.">
            Add one with <code>mutirao site add</code>.
          </Empty>
        )}
      </Panel>
    );
  }
  return (
    <Panel
      title="Requests"
      className="wide"
      aside={
        list.requests_left_out > 0 ? (
          <span className="faint">the newest of {sayCount(list.requests.length + list.requests_left_out)}</span>
        ) : undefined
      }
    >
      <div className="tabs" role="tablist" aria-label="Providers">
        {list.providers.map((one) => (
          <button
            key={one.provider_id}
            type="button"
            role="tab"
            aria-selected={one.provider_id === providerId}
            className="tab"
            onClick={() => setChosen(one.provider_id)}
          >
            {one.provider_id}
            <span className="faint">{sayProvider(one)}</span>
          </button>
        ))}
      </div>
      <Provider
        key={providerId}
        providerId={providerId}
        requests={list.requests.filter((one) => one.provider_id === providerId)}
      />
    </Panel>
  );
}

/** The one that was chosen as long as it is there, else the first that has something to show. */
function choose(providers: ProviderList['providers'], chosen: string | undefined): string | undefined {
  const known = providers.find(({ provider_id: id }) => id === chosen);
  const busy = providers.find((one) => one.requests_queued + one.requests_running > 0);
  return (known ?? busy ?? providers[0])?.provider_id;
}

function Provider({
  providerId,
  requests,
}: {
  readonly providerId: string;
  readonly requests: readonly AllocationRequest[];
}): ReactNode {
  const answer = useAnswer('getProvider', { params: { provider_id: providerId } }, 3000);
  return (
    <div className="provider">
      <Answered answer={answer} what="the queue">
        {(detail) => <Queue detail={detail} />}
      </Answered>
      <RequestList requests={requests} />
    </div>
  );
}

function Queue({
  detail: { provider, resource, queue, profile, profile_missing: missing, requests },
}: {
  readonly detail: ProviderDetail;
}): ReactNode {
  const drains = sayDraining(provider);
  return (
    <div>
      {drains === '' ? null : (
        <p className="hint">
          <b>
            {provider.provider_id} is {drains}.
          </b>{' '}
          No new tasks go there; <code>mutirao provider undrain {provider.provider_id}</code> ends the draining.
        </p>
      )}
      {resource === null ? (
        <p className="hint">{provider.last_error === '' ? 'The provider is unreachable.' : provider.last_error}</p>
      ) : (
        <p className="hint">
          {resource.resource_kind}, {sayMany(resource.processors, 'processor')}; at most{' '}
          {sayMany(resource.requests_max, 'request')} of {sayCount(resource.width_processors_max)} processors for{' '}
          {sayDuration(resource.walltime_ms_max)}; heuristic <b>{resource.heuristic}</b>.{' '}
          {resource.reasons[0] === undefined ? '' : `Last decision: ${resource.reasons[0].text}`}
        </p>
      )}
      {profile === null ? (
        <Empty title="The queue is unknown.">{missing}</Empty>
      ) : (
        <QueuePicture profile={profile} requests={requests} queue={queue} />
      )}
      {queue === null || profile === null ? null : <QueueStatus queue={queue} now={profile.at_unix_ms} />}
    </div>
  );
}

/** How well and since when the queue is known, and what was decided last. */
function QueueStatus({
  queue: { trouble, age_ms: age, running_count: running, waiting_count: waiting, decision },
  now,
}: {
  readonly queue: NonNullable<ProviderDetail['queue']>;
  readonly now: number;
}): ReactNode {
  const decided =
    decision === null
      ? ''
      : ` ${decision.heuristic} compared ` +
        `${sayMany(decision.candidates.length, 'candidate')}${decision.at_unix_ms === null ? '' : ` ${sayAgo(decision.at_unix_ms, now)}`}.`;
  return (
    <p className="hint">
      {age === null
        ? 'Not read yet.'
        : `Read ${sayDuration(age)} ago, as the provider sees it: ${sayMany(running, 'request')} running, ` +
          `${sayCount(waiting)} waiting.`}
      {decided}
      {trouble === null ? null : (
        <>
          <br />
          <b>{trouble.text}</b>
        </>
      )}
    </p>
  );
}

function RequestList({ requests }: { readonly requests: readonly AllocationRequest[] }): ReactNode {
  const { explain } = usePage();
  if (requests.length === 0) return <p className="hint">No requests.</p>;
  const now = Date.now();
  return (
    <ul className="requests">
      {requests.slice(0, 12).map((one) => (
        <li key={one.request_id}>
          <b>{nameOf(one)}</b> <span className={`state ${one.status}`}>{one.status}</span>
          <span>
            {sayMany(one.width_processors, 'processor')} for {sayDuration(one.walltime_ms)}
          </span>
          <span className="faint">
            {one.started_unix_ms !== null
              ? `running for ${sayDuration(now - one.started_unix_ms)}`
              : one.submitted_unix_ms !== null
                ? `asked ${sayAgo(one.submitted_unix_ms, now)}`
                : ''}
          </span>
          <button
            type="button"
            className="quiet small"
            onClick={() => explain({ kind: 'request', request: nameOf(one) })}
            aria-label={`Why request ${nameOf(one)}?`}
          >
            why?
          </button>
        </li>
      ))}
      {requests.length > 12 ? <li className="faint">and {sayMany(requests.length - 12, 'more', 'more')}</li> : null}
    </ul>
  );
}

/** Provider and number, as the command line has it. */
function nameOf({ provider_id: provider, request_id: id }: AllocationRequest): string {
  return id.includes('/') ? id : `${provider}/${id}`;
}
