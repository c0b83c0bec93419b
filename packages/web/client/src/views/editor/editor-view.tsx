import { useEffect, useState, type ReactNode } from 'react';
import { ReactFlowProvider } from '@xyflow/react';
import { usePage } from '../../page-context.tsx';
import { EditorToolbar } from './editor-toolbar.tsx';
import { FlowCanvas } from './flow-canvas.tsx';
import { SchedulePanel } from './schedule-panel.tsx';
import { layOutWorkflow } from './lay-out-workflow.ts';
import { TaskPanel } from './task-panel.tsx';
import { useEditor, type Editor } from './use-editor.ts';
import { useRun } from './use-run.ts';
import { WorkflowPanel } from './workflow-panel.tsx';

const tabs = [
  ['task', 'Selected'],
  ['workflow', 'Workflow'],
  ['schedule', 'Schedule'],
] as const;
type Tab = (typeof tabs)[number][0];

/** Draws workflows: the graph in the middle, the selection next to it. */
export function EditorView(): ReactNode {
  const editor = useEditor();
  const [tab, setTab] = useState<Tab>('workflow');
  const [fitting, setFitting] = useState(0);
  const [problem, setProblem] = useState('');
  const run = useRun();
  const { explain, say } = usePage();
  useKeys(editor);
  useEffect(() => {
    if (editor.selection.tasks.size + editor.selection.edges.size === 1)
      setTab((old) => (old === 'schedule' ? old : 'task'));
  }, [editor.selection]);
  const layOut = (): void => {
    layOutWorkflow(editor.workflow).then(
      (places) => {
        editor.apply({ kind: 'MoveTasks', places });
        setFitting((old) => old + 1);
      },
      (error: unknown) => say(error instanceof Error ? error.message : String(error), true),
    );
  };
  const openTask = (id: string): void => {
    const taskIndex = run.indexes.get(id);
    if (run.jobId !== undefined && taskIndex !== undefined) explain({ kind: 'task', jobId: run.jobId, taskIndex });
  };
  return (
    <ReactFlowProvider>
      <div className="editor">
        <h1 className="unseen">Workflow editor</h1>
        <EditorToolbar
          editor={editor}
          run={run}
          layOut={layOut}
          fit={() => setFitting((old) => old + 1)}
          setProblem={setProblem}
        />
        <div className="editor-canvas">
          <FlowCanvas
            workflow={editor.workflow}
            analysis={editor.analysis}
            statuses={run.statuses}
            editor={editor}
            fitting={fitting}
            {...(run.jobId === undefined ? {} : { onOpen: openTask })}
          />
          {editor.analysis.fault === undefined ? <ProblemBox problem={problem} dismiss={() => setProblem('')} /> : null}
          {editor.workflow.tasks.length === 0 ? (
            <div className="canvas-hint">
              <p className="empty-title">The workflow is empty.</p>
              <p>Add a task, or open a file: YAML, WfFormat, DAX, or XML of jScheduler.</p>
            </div>
          ) : null}
        </div>
        <aside className="editor-side" aria-label="Properties">
          <div className="tabs" role="tablist" aria-label="Properties">
            {tabs.map(([name, title]) => (
              <button
                key={name}
                type="button"
                role="tab"
                aria-selected={tab === name}
                className="tab"
                onClick={() => setTab(name)}
              >
                {title}
              </button>
            ))}
          </div>
          {tab === 'task' ? (
            <TaskPanel editor={editor} />
          ) : tab === 'workflow' ? (
            <WorkflowPanel editor={editor} />
          ) : (
            <SchedulePanel workflow={editor.workflow} fault={editor.analysis.fault} />
          )}
        </aside>
      </div>
    </ReactFlowProvider>
  );
}

/** The problem with an opened file, until it is dismissed. */
function ProblemBox({ problem, dismiss }: { readonly problem: string; readonly dismiss: () => void }): ReactNode {
  return problem === '' ? null : (
    <p className="refusal editor-problem" role="alert">
      <span>{problem}</span>
      <button type="button" className="small" onClick={dismiss}>
        Dismiss
      </button>
    </p>
  );
}

/** Undo, redo and removing by the keys that people know, but where they type text or are asked something. */
function useKeys({ undo, redo, removeSelected }: Editor): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof HTMLElement &&
        (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.closest('dialog') !== null);
      const act = isTyping ? undefined : findAct(event, { undo, redo, removeSelected });
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [undo, redo, removeSelected]);
}

function findAct(
  { key, ctrlKey, metaKey, shiftKey }: KeyboardEvent,
  { undo, redo, removeSelected }: Pick<Editor, 'undo' | 'redo' | 'removeSelected'>,
): (() => void) | undefined {
  if (!ctrlKey && !metaKey) return key === 'Delete' || key === 'Backspace' ? removeSelected : undefined;
  const letter = key.toLowerCase();
  if (letter === 'y' || (letter === 'z' && shiftKey)) return redo;
  return letter === 'z' ? undo : undefined;
}
