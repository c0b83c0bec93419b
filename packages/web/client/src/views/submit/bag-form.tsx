import { useMemo, useRef, type ReactNode } from 'react';
import type { RouteReply } from '../../../../src/schema/index.ts';
import { emptyBag, readBag, type BagDraft, type BagReading } from '../../model/bag-draft.ts';
import { sayMany } from '../../model/words.ts';
import { useAnswer, useDraft, usePage } from '../../page-context.tsx';
import { Panel } from '../../parts/notices.tsx';
import { copyText, describeCopyFault } from '../../parts/copy-text.ts';
import { FileBasket, useBasket } from './file-basket.tsx';
import { useAsYouType, type AskingAsTyped } from './use-as-you-type.ts';
import { useSubmission } from './use-submission.ts';
import { FormField, InPlaceField, ValueFields } from './value-fields.tsx';

/** A bag by hand: a command, what its tasks differ by, files; and the command line that would do the same. */
export function BagForm(): ReactNode {
  const { gateway, say, go } = usePage();
  const [draft, setDraft] = useDraft<BagDraft>('bag', emptyBag);
  const basket = useBasket();
  const reading = useMemo(() => readBag(draft, basket.files), [draft, basket.files]);
  const key = useRef<{ readonly of: BagReading; readonly key: string }>(undefined);
  const send = async (): Promise<void> => {
    if ('message' in reading) {
      refuse(reading.message);
      document.getElementById(`bag-${reading.field}`)?.focus();
      return;
    }
    // The same key until it was accepted: pressed twice, or sent again after a break, it is one job. What is changed is
    // another one.
    if (key.current?.of !== reading) key.current = { of: reading, key: crypto.randomUUID() };
    const { job_id: jobId, task_count: count } = await gateway.call('submitBag', {
      body: { ...reading.spec, client_job_id: key.current.key },
    });
    key.current = undefined;
    say(`Job ${jobId} was submitted: ${sayMany(count, 'task')}.`);
    go({ view: 'after', jobId });
  };
  const { refusal, refuse, isSending, submit } = useSubmission(send);
  const change = (next: Partial<BagDraft>): void => {
    refuse('');
    setDraft((old) => ({ ...old, ...next }));
  };
  return (
    <>
      <Panel title="Tasks">
        <form onSubmit={submit} noValidate>
          <FormField
            id="bag-command"
            label="Command"
            hint="a shell command; {} stands for the value of the task, {#} for its index"
            rows={2}
            value={draft.command}
            onChange={(command) => change({ command })}
            placeholder="./simulate --seed {}"
          />
          <ValueFields draft={draft} change={change} basket={basket} />
          <FormField id="bag-label" label="Label" value={draft.label} onChange={(label) => change({ label })} />
          <FileBasket basket={basket} />
          <MoreFields draft={draft} change={change} />
          {refusal === '' ? null : (
            <p className="refusal" role="alert">
              {refusal}
            </p>
          )}
          <p className="row">
            <button type="submit" className="primary" disabled={isSending}>
              {isSending ? 'Submitting …' : 'Submit'}
            </button>
            <button
              type="button"
              className="quiet"
              onClick={() => {
                setDraft(emptyBag);
                basket.clear();
              }}
            >
              Clear
            </button>
          </p>
        </form>
      </Panel>
      <Preview reading={reading} />
    </>
  );
}

interface DraftFields {
  readonly draft: BagDraft;
  readonly change: (next: Partial<BagDraft>) => void;
}

function MoreFields({ draft, change }: DraftFields): ReactNode {
  const session = useAnswer('getSession', {});
  const isUsed =
    [
      draft.put,
      draft.get,
      draft.requirements,
      draft.check,
      draft.environment,
      draft.processors,
      draft.retries,
      draft.minutes,
      draft.directory,
    ].some((text) => text !== '') || draft.isInPlace;
  return (
    <details className="more-fields" open={isUsed}>
      <summary>More options: folder, files, limits</summary>
      <FormField
        id="bag-directory"
        label="Folder"
        hint="absolute; outputs go there, and relative paths start there"
        value={draft.directory}
        onChange={(directory) => change({ directory })}
        placeholder={session.value?.directory ?? ''}
      />
      <InPlaceField id="bag-in-place" isChecked={draft.isInPlace} onChange={(isInPlace) => change({ isInPlace })} />
      <FileFields draft={draft} change={change} />
      <LimitFields draft={draft} change={change} />
      <FormField
        id="bag-requirements"
        label="Requirements"
        hint="as in JDF: mem >= 2000"
        value={draft.requirements}
        onChange={(requirements) => change({ requirements })}
      />
      <FormField
        id="bag-check"
        label="Check"
        hint="runs at home; exit status 0 accepts the result"
        value={draft.check}
        onChange={(check) => change({ check })}
      />
      <FormField
        id="bag-environment"
        label="Environment"
        hint="one NAME=VALUE per line"
        rows={2}
        value={draft.environment}
        onChange={(environment) => change({ environment })}
      />
    </details>
  );
}

/** Which files go with the tasks, and which come back. */
function FileFields({ draft, change }: DraftFields): ReactNode {
  return (
    <div className="fields">
      <FormField
        id="bag-put"
        label="Put"
        hint="your files, one SRC[:DST] per line"
        rows={2}
        value={draft.put}
        onChange={(put) => change({ put })}
      />
      <FormField
        id="bag-get"
        label="Get"
        hint="outputs, one per line"
        rows={2}
        value={draft.get}
        onChange={(get) => change({ get })}
        placeholder="out-{}.csv"
      />
    </div>
  );
}

/** Processors, retries and the time limit of a task. */
function LimitFields({ draft, change }: DraftFields): ReactNode {
  return (
    <div className="fields">
      <FormField
        id="bag-processors"
        label="Processors each"
        value={draft.processors}
        onChange={(processors) => change({ processors })}
        placeholder="1"
      />
      <FormField
        id="bag-retries"
        label="Retries"
        value={draft.retries}
        onChange={(retries) => change({ retries })}
        placeholder="2"
      />
      <FormField
        id="bag-minutes"
        label="Time limit, minutes"
        value={draft.minutes}
        onChange={(minutes) => change({ minutes })}
        placeholder="any"
      />
    </div>
  );
}

type BagPreview = RouteReply<'previewBag'>;

/** What would come of the form as it stands. */
function Preview({ reading }: { readonly reading: BagReading }): ReactNode {
  const { say } = usePage();
  const { answer: preview, problem: refusal = '', isLate, askNow } = usePreview(reading);
  const copy = (): void => {
    copyText(askNow().then((now) => now.command_line)).then(
      () => say('Copied.'),
      (error: unknown) => say(describeCopyFault(error), true),
    );
  };
  return (
    <Panel title="Preview" className="preview">
      {refusal === '' ? null : <p className="refusal">{refusal}</p>}
      {preview === undefined ? (
        refusal === '' ? (
          <p className="hint">{'message' in reading ? reading.message : 'Preparing the preview …'}</p>
        ) : null
      ) : (
        <>
          <p className="lead">
            <b>{sayMany(preview.task_count, 'task')}</b>
          </p>
          <ol className="commands">
            {preview.first_commands.map((command, index) => (
              <li key={index}>
                <code>{command}</code>
              </li>
            ))}
            {preview.task_count > preview.first_commands.length ? <li className="faint">…</li> : null}
          </ol>
          <div className="row">
            <h3>As a command</h3>
            <button type="button" className="small end" onClick={copy}>
              Copy
            </button>
          </div>
          <pre tabIndex={0} aria-label="Equivalent command line" aria-busy={isLate}>
            {preview.command_line}
          </pre>
        </>
      )}
    </Panel>
  );
}

function usePreview(reading: BagReading): AskingAsTyped<BagPreview> {
  const { gateway } = usePage();
  return useAsYouType('message' in reading ? undefined : reading, (signal) => {
    if ('message' in reading) return Promise.reject(new Error(reading.message));
    // Of files only names matter here.
    const { files, ...spec } = reading.spec;
    return gateway.call('previewBag', {
      body: { ...spec, ...(files !== undefined && { files: files.map((file) => ({ ...file, content_base64: '' })) }) },
      signal,
    });
  });
}
