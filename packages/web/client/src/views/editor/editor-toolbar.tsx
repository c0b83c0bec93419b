import { useRef, useState, type ChangeEvent, type ReactNode } from 'react';
import { useReactFlow } from '@xyflow/react';
import { getProblem, saveFile } from '../../gateway/gateway.ts';
import { emptyWorkflow, freeId, freePlace } from '../../model/workflow/graph.ts';
import { readSavedWorkflow, saveWorkflow } from '../../model/workflow/saved-workflow.ts';
import { sayMany, saySentence } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';
import { placedWorkflow } from './lay-out-workflow.ts';
import { SubmitWorkflow } from './submit-workflow.tsx';
import { nothingSelected, type Editor } from './use-editor.ts';
import type { Run } from './use-run.ts';

const formats = [
  ['yaml', 'YAML', 'yaml'],
  ['wfformat', 'WfFormat', 'json'],
  ['dax', 'DAX', 'dax'],
  ['xml', 'Job XML', 'xml'],
  ['dot', 'DOT', 'dot'],
] as const;
const fileBytesMax = 30_000_000;

/** What may be done with the whole. */
export function EditorToolbar({
  editor,
  run,
  layOut,
  fit,
  setProblem,
}: {
  readonly editor: Editor;
  readonly run: Run;
  readonly layOut: () => void;
  readonly fit: () => void;
  readonly setProblem: (problem: string) => void;
}): ReactNode {
  const { workflow, selection, apply } = editor;
  const [isSubmitting, setIsSubmitting] = useState(false);
  const addTask = useAddTask(editor);
  const isEmpty = workflow.tasks.length === 0;
  const fresh = (): void => {
    apply({ kind: 'ReplaceWorkflow', workflow: emptyWorkflow });
    editor.select(nothingSelected);
    run.watch(undefined);
    setProblem('');
  };
  return (
    <div className="toolbar" role="toolbar" aria-label="Workflow">
      <button type="button" onClick={fresh}>
        New
      </button>
      <OpenButton editor={editor} run={run} fit={fit} setProblem={setProblem} />
      <button
        type="button"
        disabled={isEmpty}
        onClick={() =>
          saveFile(
            new Blob([saveWorkflow(workflow)], { type: 'application/json' }),
            `${fileName(workflow.name)}.workflow.json`,
          )
        }
      >
        Save
      </button>
      <ExportMenu editor={editor} />
      <span className="gap" />
      <button type="button" onClick={addTask}>
        Add task
      </button>
      <button
        type="button"
        disabled={selection.tasks.size + selection.edges.size === 0}
        onClick={editor.removeSelected}
      >
        Remove
      </button>
      <button type="button" disabled={isEmpty} onClick={layOut}>
        Lay out
      </button>
      <button type="button" disabled={!editor.canUndo} onClick={editor.undo} title="Ctrl+Z">
        Undo
      </button>
      <button type="button" disabled={!editor.canRedo} onClick={editor.redo} title="Ctrl+Y">
        Redo
      </button>
      <span className="gap" />
      {run.jobId === undefined ? null : <RunState run={run} />}
      <button
        type="button"
        className="primary"
        disabled={isEmpty || editor.analysis.fault !== undefined}
        title={editor.analysis.fault}
        onClick={() => setIsSubmitting(true)}
      >
        Submit …
      </button>
      {isSubmitting ? (
        <SubmitWorkflow workflow={workflow} close={() => setIsSubmitting(false)} submitted={run.watch} />
      ) : null}
    </div>
  );
}

function useAddTask({ workflow, apply, select }: Editor): () => void {
  const { screenToFlowPosition } = useReactFlow();
  return () => {
    const pane = document.querySelector('.editor-canvas')?.getBoundingClientRect() ?? new DOMRect(0, 0, 400, 300);
    const id = freeId(workflow);
    // From the middle of what is in sight on, so that none hides another one.
    const middle = screenToFlowPosition({ x: pane.left + pane.width / 2 - 84, y: pane.top + pane.height / 3 });
    const { x, y } = freePlace(workflow, middle);
    if (apply({ kind: 'AddTask', id, x: Math.round(x), y: Math.round(y) }))
      select({ tasks: new Set([id]), edges: new Set() });
  };
}

function RunState({ run: { jobId, statuses, watch } }: { readonly run: Run }): ReactNode {
  const { go } = usePage();
  const finished = [...statuses.values()].filter((status) => status === 'finished').length;
  if (jobId === undefined) return null;
  return (
    <span className="row run-state" role="status">
      <button type="button" className="link" onClick={() => go({ view: 'after', jobId })}>
        Job {jobId}
      </button>
      <span className="faint">
        {finished} of {sayMany(statuses.size, 'task')} finished
      </span>
      <button type="button" className="quiet small" onClick={() => watch(undefined)}>
        Back to the editor
      </button>
    </span>
  );
}

function OpenButton({
  editor,
  run,
  fit,
  setProblem,
}: {
  readonly editor: Editor;
  readonly run: Run;
  readonly fit: () => void;
  readonly setProblem: (problem: string) => void;
}): ReactNode {
  const { gateway, say } = usePage();
  const input = useRef<HTMLInputElement>(null);
  const open = async (file: File): Promise<void> => {
    if (file.size > fileBytesMax)
      throw new Error(
        `${file.name} has more than ${fileBytesMax / 1e6} MB, which is too much for the page; submit it with ` +
          '"mutirao job submit".',
      );
    const text = await file.text();
    const saved = readSavedWorkflow(text);
    if (saved !== undefined && 'refusal' in saved) throw new Error(`${file.name}: ${saved.refusal}`);
    const read =
      saved === undefined
        ? await gateway.call('importWorkflow', { body: { text, name: file.name.slice(0, 256) } })
        : { ...saved, warnings: [], fault: null };
    // Together, so that one undo leads back to what was there before.
    editor.apply({ kind: 'ReplaceWorkflow', workflow: await placedWorkflow(read.workflow) });
    editor.select(nothingSelected);
    run.watch(undefined);
    fit();
    // The problem stays in sight until it is fixed or dismissed, and not only for some seconds.
    setProblem(read.fault === null ? '' : `${file.name} cannot run as it is: ${saySentence(read.fault)}`);
    say(
      [
        `${file.name} was opened: ${sayMany(read.workflow.tasks.length, 'task')}, ` +
          `${sayMany(read.workflow.edges.length, 'edge')}.`,
        ...read.warnings.slice(0, 3),
      ].join(' '),
    );
  };
  const chosen = (event: ChangeEvent<HTMLInputElement>): void => {
    const [file] = event.target.files ?? [];
    event.target.value = '';
    if (file !== undefined)
      open(file).catch((error: unknown) => setProblem(`${file.name} was not opened. ${saySentence(placeOf(error))}`));
  };
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Open …
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Workflow file"
        accept=".yaml,.yml,.json,.xml,.dax,.txt"
        onChange={chosen}
      />
    </>
  );
}

function placeOf(error: unknown): string {
  const { message, line, column } = getProblem(error);
  return line === undefined || message.includes(`${line}:`)
    ? message
    : `Line ${line}${column === undefined ? '' : `, column ${column}`}: ${message}`;
}

function ExportMenu({ editor: { workflow } }: { readonly editor: Editor }): ReactNode {
  const { gateway, say } = usePage();
  const write = async (format: string, ending: string): Promise<void> => {
    const { text, losses } = await gateway.call('exportWorkflow', { body: { workflow, format } });
    saveFile(new Blob([text], { type: 'text/plain' }), `${fileName(workflow.name)}.${ending}`);
    say(losses.length === 0 ? 'Saved.' : `Saved, but ${losses.join('; ')}.`);
  };
  return (
    <select
      aria-label="Export"
      className="export"
      value=""
      disabled={workflow.tasks.length === 0}
      onChange={(event) => {
        const format = formats.find(([name]) => name === event.target.value);
        if (format !== undefined) write(format[0], format[2]).catch((error: unknown) => say(placeOf(error), true));
      }}
    >
      <option value="">Export …</option>
      {formats.map(([name, title]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  );
}

function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'workflow';
}
