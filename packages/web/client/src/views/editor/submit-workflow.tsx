import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Workflow } from '../../../../src/schema/index.ts';
import { sayMany } from '../../model/words.ts';
import { useDraft, usePage } from '../../page-context.tsx';
import { useSubmission } from '../submit/use-submission.ts';
import { InPlaceField } from '../submit/value-fields.tsx';

interface Options {
  readonly command: string;
  readonly directory: string;
  readonly isInPlace: boolean;
  readonly scheduler: string;
}

const noOptions: Options = { command: '', directory: '', isInPlace: false, scheduler: '' };

/** Asks for the options of a submission, and submits the workflow. */
export function SubmitWorkflow({
  workflow,
  close,
  submitted,
}: {
  readonly workflow: Workflow;
  readonly close: () => void;
  readonly submitted: (jobId: number) => void;
}): ReactNode {
  const { gateway, say } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const [options, setOptions] = useDraft<Options>('submit-workflow', noOptions);
  const [key] = useState(() => crypto.randomUUID());
  const lacking = workflow.tasks.filter(({ command }) => command.trim() === '').length;
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const send = async (): Promise<void> => {
    const { command, directory, isInPlace, scheduler } = options;
    const reply = await gateway.call('submitWorkflow', {
      body: {
        workflow,
        label: workflow.name,
        client_job_id: key,
        ...(lacking > 0 && { task_command: command }),
        ...(directory !== '' && { directory }),
        ...(isInPlace && { in_place: true }),
        ...(scheduler !== '' && { scheduler }),
      },
    });
    say(`Job ${reply.job_id} was submitted: ${sayMany(reply.task_count, 'task')}.`);
    submitted(reply.job_id);
    close();
  };
  const { refusal, isSending, submit } = useSubmission(send);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="submit-title">
      <form onSubmit={submit}>
        <h2 id="submit-title">Submit {workflow.name || 'the workflow'}</h2>
        <p className="hint">
          {sayMany(workflow.tasks.length, 'task')}, {sayMany(workflow.edges.length, 'edge')}. The graph then shows the
          run.
        </p>
        <OptionFields lacking={lacking} options={options} setOptions={setOptions} />
        {refusal === '' ? null : (
          <p className="refusal" role="alert">
            {refusal}
          </p>
        )}
        <p className="row end">
          <button type="button" onClick={close}>
            Back
          </button>
          <button type="submit" className="primary" disabled={isSending}>
            Submit
          </button>
        </p>
      </form>
    </dialog>
  );
}

/** The command of tasks that have none, the folder, and the scheduler. */
function OptionFields({
  lacking,
  options,
  setOptions,
}: {
  readonly lacking: number;
  readonly options: Options;
  readonly setOptions: (options: Options) => void;
}): ReactNode {
  return (
    <>
      {lacking === 0 ? null : (
        <div className="field">
          <label htmlFor="task-command">Command of the {sayMany(lacking, 'task')} without one</label>
          <input
            id="task-command"
            required
            value={options.command}
            onChange={(event) => setOptions({ ...options, command: event.target.value })}
            placeholder="sleep {seconds}; touch {outputs}"
          />
          <p className="hint">
            {'{id}, {kind}, {seconds}, {dimension}, {inputs} and {outputs} stand for values of the task.'}
          </p>
        </div>
      )}
      <div className="field">
        <label htmlFor="submit-folder">
          Folder <span className="faint">absolute path; default: the folder of mutirao web</span>
        </label>
        <input
          id="submit-folder"
          value={options.directory}
          onChange={(event) => setOptions({ ...options, directory: event.target.value })}
        />
      </div>
      <InPlaceField
        id="submit-in-place"
        isChecked={options.isInPlace}
        onChange={(isInPlace) => setOptions({ ...options, isInPlace })}
      />
      <div className="field">
        <label htmlFor="submit-scheduler">Scheduler</label>
        <select
          id="submit-scheduler"
          value={options.scheduler}
          onChange={(event) => setOptions({ ...options, scheduler: event.target.value })}
        >
          <option value="">default: ready tasks, longest path first</option>
          <option value="plan">plan: plan for the whole grid</option>
        </select>
      </div>
    </>
  );
}
