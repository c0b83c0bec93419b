import { useEffect, useRef, useState, type ReactNode, type SubmitEvent } from 'react';
import type { RouteReply } from '../../../../src/schema/index.ts';
import { problemOf } from '../../gateway/gateway.ts';
import { lineStart } from '../../model/marked-text.ts';
import { sayMany } from '../../model/words.ts';
import { useDraft, usePage } from '../../page-context.tsx';
import { Panel } from '../../parts/notices.tsx';
import { MarkedEditor } from './marked-editor.tsx';

const textMax = 8_000_000;
const example = 'job :\n  label : sweep\n\ntask :\n  remote : echo $JOB $TASK\n';

type JdfCheck = RouteReply<'checkJdf'>;

/** A job file in JDF: typed, pasted or dropped, with what is wrong in it marked in the text. */
export function JdfForm(): ReactNode {
  const { gateway, say, go } = usePage();
  const [draft, setDraft] = useDraft('jdf', { text: example, directory: '' });
  const { check, refusal, setRefusal } = useCheck(draft.text);
  const [isSending, setIsSending] = useState(false);
  const key = useRef('');
  const area = useRef<HTMLTextAreaElement>(null);
  const faults = check?.faults ?? [];
  const errors = faults.filter(({ severity }) => severity === 'error').length;
  const send = async (): Promise<void> => {
    key.current ||= crypto.randomUUID();
    const { job_id: jobId, task_count: count } = await gateway.call('submitJdf', { body: { text: draft.text, client_job_id: key.current, ...(draft.directory.trim() !== '' && { directory: draft.directory.trim() }) } });
    key.current = '';
    say(`Job ${jobId} was submitted: ${sayMany(count, 'task')}.`);
    go({ view: 'after', jobId });
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setRefusal('');
    setIsSending(true);
    send().catch((error: unknown) => setRefusal(problemOf(error).message)).finally(() => setIsSending(false));
  };
  const open = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > textMax) { say(`${file.name} is too large for the page; submit it with "mutirao job submit".`, true); return; }
    void file.text().then((text) => setDraft((old) => ({ ...old, text })), () => say(`${file.name} cannot be read.`, true));
  };
  const goTo = (line: number, column: number): void => {
    const start = (lineStart(draft.text, line) ?? 0) + Math.max(0, column - 1);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + 1);
  };
  return (
    <>
      <Panel title="The job file" aside={<label className="link">Open a file<input type="file" hidden aria-label="Job file" onChange={(event) => { open(event.target.files?.[0]); event.target.value = ''; }} /></label>}>
        <form onSubmit={submit}>
          <MarkedEditor area={area} text={draft.text} marks={faults} onChange={(text) => setDraft((old) => ({ ...old, text }))} onDrop={open} />
          <div className="field"><label htmlFor="jdf-folder">Folder <span className="faint">absolute; where files of the job are</span></label><input id="jdf-folder" value={draft.directory} onChange={(event) => setDraft((old) => ({ ...old, directory: event.target.value }))} /></div>
          {refusal === '' ? null : <p className="refusal" role="alert">{refusal}</p>}
          <button type="submit" className="primary" disabled={isSending || errors > 0 || draft.text.trim() === ''}>{isSending ? 'Submitting …' : 'Submit'}</button>
        </form>
      </Panel>
      <Panel title="What is in it" className="preview">
        <p className="lead" role="status">{check === undefined ? 'Reading …' : errors > 0 ? <b>{sayMany(errors, 'error')}</b> : <><b>{sayMany(check.task_count, 'task')}</b>{check.label === '' ? '' : `, called ${check.label}`}</>}</p>
        <Faults faults={faults} goTo={goTo} />
      </Panel>
    </>
  );
}

function Faults({ faults, goTo }: { readonly faults: JdfCheck['faults']; readonly goTo: (line: number, column: number) => void }): ReactNode {
  return (
    <ul className="faults">
      {faults.map(({ severity, code, line, column, message, nearest }, index) => (
        <li key={index} className={severity}>
          {line === 0 ? <b>{severity}</b> : <button type="button" className="link" onClick={() => goTo(line, column)}>{severity}, line {line}, column {column}</button>}
          <p>{message}{nearest === null ? '' : `; did you mean ${nearest}?`}</p><code className="faint">{code}</code>
        </li>
      ))}
    </ul>
  );
}

function useCheck(text: string): { readonly check: JdfCheck | undefined; readonly refusal: string; readonly setRefusal: (refusal: string) => void } {
  const { gateway } = usePage();
  const [check, setCheck] = useState<JdfCheck>();
  const [refusal, setRefusal] = useState('');
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      gateway.call('checkJdf', { body: { text }, signal: abort.signal }).then((next) => { setCheck(next); setRefusal(''); }, (error: unknown) => { if (!abort.signal.aborted) setRefusal(problemOf(error).message); });
    }, 250);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [text, gateway]);
  return { check, refusal, setRefusal };
}
