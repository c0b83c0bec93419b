import { useEffect, useState, type ReactNode } from 'react';
import { operationCost, operations, type Operation } from '@mutirao/core/workflow';
import type { WorkflowTask } from '../../../../src/schema/index.ts';
import { edgeId } from '../../model/workflow/edits.ts';
import { printFiles, readFiles } from '../../model/workflow/file-lines.ts';
import { Empty } from '../../parts/notices.tsx';
import { EdgePanel } from './edge-panel.tsx';
import { NumberField, TextField } from './property-fields.tsx';
import { TaskLinks } from './task-links.tsx';
import type { Editor } from './use-editor.ts';

const mebibyte = 1024 * 1024;

/** The properties of the task that is selected. */
export function TaskPanel({ editor }: { readonly editor: Editor }): ReactNode {
  const { workflow, selection, analysis } = editor;
  const [id] = selection.tasks;
  const edge =
    selection.tasks.size === 0 && selection.edges.size === 1
      ? workflow.edges.find(({ from, to }) => selection.edges.has(edgeId(from, to)))
      : undefined;
  if (edge !== undefined) return <EdgePanel key={edgeId(edge.from, edge.to)} edge={edge} editor={editor} />;
  const task = selection.tasks.size === 1 ? workflow.tasks.find((one) => one.id === id) : undefined;
  if (task === undefined)
    return (
      <Empty title={selection.tasks.size > 1 ? `${selection.tasks.size} tasks are selected.` : 'No task is selected.'}>
        Select a task or an edge in the graph. Drag from the lower handle of a box to another box to draw an edge.
      </Empty>
    );
  const level = analysis.bLevels.get(task.id);
  return (
    <div key={task.id} className="properties">
      <TaskName key={`name ${task.id}`} task={task} editor={editor} />
      {level === undefined ? null : (
        <p className="hint">
          b-level {level.toFixed(1)} s{analysis.criticalPath.includes(task.id) ? '; on the critical path' : ''}
        </p>
      )}
      <TaskFields task={task} editor={editor} />
      <TaskLinks task={task} editor={editor} />
    </div>
  );
}

function TaskName({ task, editor }: { readonly task: WorkflowTask; readonly editor: Editor }): ReactNode {
  const [name, setName] = useState(task.id);
  useEffect(() => setName(task.id), [task.id]);
  const rename = (): void => {
    const newId = name.trim();
    if (newId === task.id) return;
    if (editor.apply({ kind: 'RenameTask', id: task.id, newId }))
      editor.select({ tasks: new Set([newId]), edges: new Set() });
    else setName(task.id);
  };
  return (
    <div className="field">
      <label htmlFor="task-name">Name</label>
      <input
        id="task-name"
        value={name}
        onChange={(event) => setName(event.target.value)}
        onBlur={rename}
        onKeyDown={(event) => {
          if (event.key === 'Enter') rename();
        }}
      />
    </div>
  );
}

function TaskFields({ task, editor }: { readonly task: WorkflowTask; readonly editor: Editor }): ReactNode {
  const change = (field: string, next: Partial<Omit<WorkflowTask, 'id'>>): void => {
    editor.apply({ kind: 'ChangeTask', id: task.id, change: next }, `${task.id} ${field}`);
  };
  return (
    <>
      <TextField
        id="task-command-own"
        label="Command"
        value={task.command}
        rows={2}
        code
        onChange={(command) => change('command', { command })}
      />
      <TextField
        id="task-kind"
        label="Kind"
        hint="a program's name"
        value={task.kind}
        onChange={(kind) => change('kind', { kind })}
      />
      <MatrixFields task={task} change={change} />
      <div className="fields three">
        <NumberField
          id="task-seconds"
          label="Run time, s"
          value={task.work / 1000}
          onChange={(seconds) => change('work', { work: seconds * 1000 })}
        />
        <NumberField
          id="task-least"
          label="Processors"
          value={task.processors_min}
          whole
          least={1}
          onChange={(least) =>
            change('least', { processors_min: least, processors_max: Math.max(least, task.processors_max) })
          }
        />
        <NumberField
          id="task-most"
          label="at most"
          value={task.processors_max}
          whole
          least={1}
          onChange={(most) =>
            change('most', { processors_max: most, processors_min: Math.min(most, task.processors_min) })
          }
        />
      </div>
      <NumberField
        id="task-memory"
        label="Memory, MiB"
        value={(task.memory_bytes ?? 0) / mebibyte}
        onChange={(mebibytes) => change('memory', { memory_bytes: Math.round(mebibytes * mebibyte) })}
      />
      <TextField
        id="task-inputs"
        label="Inputs"
        hint="one file per line, optionally followed by its size in bytes"
        value={printFiles(task.inputs)}
        rows={3}
        code
        onChange={(text) => change('inputs', { inputs: readFiles(text, task.inputs) })}
      />
      <TextField
        id="task-outputs"
        label="Outputs"
        value={printFiles(task.outputs)}
        rows={3}
        code
        onChange={(text) => change('outputs', { outputs: readFiles(text, task.outputs) })}
      />
    </>
  );
}

/** moreira2009's operations on matrices: the dimension gives the work. */
function MatrixFields({
  task,
  change,
}: {
  readonly task: WorkflowTask;
  readonly change: (field: string, next: Partial<Omit<WorkflowTask, 'id'>>) => void;
}): ReactNode {
  const { matrix } = task;
  const set = (next: NonNullable<WorkflowTask['matrix']>): void => {
    const isKnown = (operations as readonly string[]).includes(next.operation);
    change('matrix', {
      matrix: next,
      kind: next.operation,
      ...(isKnown ? operationCost(next.operation as Operation, next.dimension) : {}),
    });
  };
  return (
    <div className="fields">
      <div className="field">
        <label htmlFor="task-operation">Matrix operation</label>
        <select
          id="task-operation"
          value={matrix?.operation ?? ''}
          onChange={(event) => {
            if (event.target.value === '') change('matrix', { matrix: null });
            else set({ dimension: 1000, parameters: '', ...matrix, operation: event.target.value });
          }}
        >
          <option value="">none</option>
          {operations.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {matrix === null ? null : (
        <NumberField
          id="task-dimension"
          label="Dimension"
          value={matrix.dimension}
          whole
          least={1}
          onChange={(dimension) => set({ ...matrix, dimension })}
        />
      )}
      {matrix === null ? null : (
        <TextField
          id="task-parameters"
          label="Parameters"
          value={matrix.parameters}
          onChange={(parameters) => set({ ...matrix, parameters })}
        />
      )}
    </div>
  );
}
