import type { ReactNode } from 'react';
import { getProblem } from '../../gateway/gateway.ts';
import { usePage, useAnswer, useLive } from '../../page-context.tsx';
import { copyText, describeCopyFault } from '../../parts/copy-text.ts';

const example = {
  command: 'sleep 1; echo {} squared is $(({} * {}))',
  values: { kind: 'array', selector: '1-50' },
} as const;

/** Ways to begin, where there has been no job yet. */
export function FirstUse(): ReactNode {
  const { gateway, go, say } = usePage();
  const providers = useLive((state) => state.providers?.providers);
  const preview = useAnswer('previewBag', { body: example });
  const line = preview.value?.command_line ?? '';
  const submit = async (): Promise<void> => {
    const { job_id: jobId } = await gateway.call('submitBag', {
      body: { ...example, label: 'example', client_job_id: crypto.randomUUID() },
    });
    go({ view: 'after', jobId });
  };
  const copy = (): void => {
    copyText(Promise.resolve(line)).then(
      () => say('The command is copied.'),
      (error: unknown) => say(describeCopyFault(error), true),
    );
  };
  const names = (providers ?? []).filter(({ connected }) => connected).map(({ provider_id: name }) => name);
  return (
    <div className="first-use">
      <p className="empty-title">There are no jobs yet.</p>
      <p className="row">
        <button
          type="button"
          className="primary"
          onClick={() => {
            submit().catch((error: unknown) => say(getProblem(error).message, true));
          }}
        >
          Run an example of 50 tasks
        </button>
        <button type="button" onClick={() => go({ view: 'submit' })}>
          Submit your own
        </button>
        <button type="button" onClick={() => go({ view: 'editor' })}>
          Draw a workflow
        </button>
      </p>
      {line === '' ? null : (
        <div className="row">
          <pre tabIndex={0} aria-label="The example as a command">
            {line}
          </pre>
          <button type="button" className="small" onClick={copy}>
            Copy
          </button>
        </div>
      )}
      {names.length === 0 ? null : (
        <p className="hint">
          {names.join(', ')} {names.length === 1 ? 'requests' : 'request'} processors as soon as there is work.
        </p>
      )}
    </div>
  );
}
