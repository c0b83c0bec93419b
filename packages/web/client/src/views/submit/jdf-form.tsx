import { useRef, type ReactNode } from 'react';
import type { RouteReply } from '../../../../src/schema/index.ts';
import { sayMark, type TextMark } from '../../model/marked-text.ts';
import { sayCount, sayMany } from '../../model/words.ts';
import { useDraft, usePage } from '../../page-context.tsx';
import { Panel } from '../../parts/notices.tsx';
import { MarkedEditor, type EditorHandle } from './marked-editor.tsx';
import { useAsYouType } from './use-as-you-type.ts';
import { useSubmission } from './use-submission.ts';

const textMax = 8_000_000;
const listedMax = 200;
const example = 'job :\n  label : sweep\n\ntask :\n  remote : echo $JOB $TASK\n';

type JdfCheck = RouteReply<'checkJdf'>;
const nothing: JdfCheck['faults'] = [];

/** A job file in JDF: typed, pasted or dropped, with all that is wrong in it marked in the text. */
export function JdfForm(): ReactNode {
  const { gateway, say, go } = usePage();
  const [draft, setDraft] = useDraft('jdf', { text: example, directory: '' });
  const { answer: check, problem } = useAsYouType(draft.text, (signal) =>
    gateway.call('checkJdf', { body: { text: draft.text }, signal }),
  );
  const key = useRef('');
  const editor = useRef<EditorHandle>(null);
  const faults = check?.faults ?? nothing;
  const hasErrors = faults.some(({ severity }) => severity === 'error');
  const change = (text: string): void => {
    key.current = '';
    setDraft((old) => ({ ...old, text }));
  };
  const send = async (): Promise<void> => {
    key.current ||= crypto.randomUUID();
    const { job_id: jobId, task_count: count } = await gateway.call('submitJdf', {
      body: {
        text: draft.text,
        client_job_id: key.current,
        ...(draft.directory.trim() !== '' && { directory: draft.directory.trim() }),
      },
    });
    key.current = '';
    say(`Job ${jobId} was submitted: ${sayMany(count, 'task')}.`);
    go({ view: 'after', jobId });
  };
  const { refusal, isSending, submit } = useSubmission(send);
  const open = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > textMax) {
      say(`${file.name} is too large for the page; submit it with "mutirao job submit".`, true);
      return;
    }
    // Lines end as in a field of text, so that places in the one are places in the other.
    void file.text().then(
      (text) => change(text.replaceAll('\r', '')),
      () => say(`${file.name} cannot be read.`, true),
    );
  };
  return (
    <>
      <Panel title="The job file" aside={<OpenFile open={open} />}>
        <form onSubmit={submit}>
          <MarkedEditor
            handle={editor}
            text={draft.text}
            marks={faults}
            describedBy="jdf-found"
            onChange={change}
            onDrop={open}
          />
          <div className="field">
            <label htmlFor="jdf-folder">
              Folder <span className="faint">absolute; where files of the job are</span>
            </label>
            <input
              id="jdf-folder"
              value={draft.directory}
              onChange={(event) => setDraft((old) => ({ ...old, directory: event.target.value }))}
            />
          </div>
          {refusal === '' ? null : (
            <p className="refusal" role="alert">
              {refusal}
            </p>
          )}
          <button type="submit" className="primary" disabled={isSending || hasErrors || draft.text.trim() === ''}>
            {isSending ? 'Submitting …' : 'Submit'}
          </button>
        </form>
      </Panel>
      <Panel title="What is in it" className="preview">
        {problem === undefined ? null : <p className="refusal">{problem}</p>}
        <Found check={check} />
        <Faults faults={faults} goTo={(mark) => editor.current?.goTo(mark)} />
      </Panel>
    </>
  );
}

function OpenFile({ open }: { readonly open: (file: File | undefined) => void }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="link" onClick={() => input.current?.click()}>
        Open a file
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Job file"
        onChange={(event) => {
          open(event.target.files?.[0]);
          event.target.value = '';
        }}
      />
    </>
  );
}

function Found({ check }: { readonly check: JdfCheck | undefined }): ReactNode {
  const errors = check?.faults.filter(({ severity }) => severity === 'error').length ?? 0;
  return (
    <p className="lead" role="status" id="jdf-found">
      {check === undefined ? (
        'Reading …'
      ) : errors > 0 ? (
        <b>
          {sayMany(errors, 'error')}
          {check.is_cut ? ', and the rest was not read' : ''}
        </b>
      ) : (
        <>
          <b>{sayMany(check.task_count, 'task')}</b>
          {check.label === '' ? '' : `, called ${check.label}`}
        </>
      )}
    </p>
  );
}

function Faults({
  faults,
  goTo,
}: {
  readonly faults: JdfCheck['faults'];
  readonly goTo: (mark: TextMark) => void;
}): ReactNode {
  return (
    <>
      <ul className="faults">
        {faults.slice(0, listedMax).map((fault, index) => (
          <li key={index} className={fault.severity}>
            <button type="button" className="link" onClick={() => goTo(fault)}>
              {fault.severity}, line {fault.line}, column {fault.column}
            </button>
            <p>{sayMark(fault)}</p>
            <code className="faint">{fault.code}</code>
          </li>
        ))}
      </ul>
      {faults.length > listedMax ? (
        <p className="hint">and {sayCount(faults.length - listedMax)} more, marked in the text</p>
      ) : null}
    </>
  );
}
