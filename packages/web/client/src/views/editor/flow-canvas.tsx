import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Background, BackgroundVariant, Controls, ReactFlow, useReactFlow, type Connection, type Edge, type EdgeChange, type NodeChange } from '@xyflow/react';
import type { Workflow } from '../../../../src/schema/index.ts';
import type { WorkflowAnalysis } from '../../model/workflow/analysis.ts';
import { FlowParts } from '../../model/workflow/flow-parts.ts';
import { findEdgeFault } from '../../model/workflow/graph.ts';
import { Overview } from './overview.tsx';
import { TaskNode, type TaskFlowNode } from './task-node.tsx';
import { nothingSelected, type Editor, type Selection } from './use-editor.ts';

const nodeTypes = { task: TaskNode };
const noPlaces: ReadonlyMap<string, { x: number; y: number }> = new Map();
/** Above so many tasks the whole graph is seen in the overview only: each box and line in sight costs time at every change. */
const manyTasks = 400;
const leastZoom = (taskCount: number): number => (taskCount > manyTasks ? 0.45 : 0.1);

/** What the canvas shows, and what may be done on it. */
export interface FlowCanvasProps {
  readonly workflow: Workflow;
  readonly analysis: WorkflowAnalysis;
  readonly statuses: ReadonlyMap<string, string>;
  /** Undefined where the graph is only looked at. */
  readonly editor?: Editor;
  readonly onOpen?: (id: string) => void;
  /** Another number has the whole graph brought into sight. */
  readonly fitting: number;
}

/** The graph: tasks as boxes, what they wait for as lines. */
export function FlowCanvas({ workflow, analysis, statuses, editor, onOpen, fitting }: FlowCanvasProps): ReactNode {
  const parts = useRef(new FlowParts());
  const [dragged, setDragged] = useState(noPlaces);
  const [refusal, setRefusal] = useState('');
  const selection = editor?.selection ?? nothingSelected;
  const view = { analysis, statuses, dragged, selectedTasks: selection.tasks, selectedEdges: selection.edges };
  const nodes = useMemo(() => parts.current.nodesOf(workflow, view) as TaskFlowNode[], [workflow, analysis, statuses, dragged, selection]);
  const edges = useMemo(() => parts.current.edgesOf(workflow, view) as Edge[], [workflow, analysis, selection]);
  const changeNodes = useNodeChanges(editor, { dragged, setDragged });
  const changeEdges = useCallback((changes: EdgeChange[]) => {
    // Several calls may come before the next picture.
    editor?.select((old) => ({ tasks: old.tasks, edges: selected(changes, old.edges) }));
  }, [editor]);
  const isValid = useCallback((drawn: Connection | Edge) => {
    const fault = findEdgeFault(workflow, drawn.source, drawn.target);
    setRefusal(fault?.message ?? '');
    return fault === undefined;
  }, [workflow]);
  useEffect(() => {
    const timer = refusal === '' ? undefined : setTimeout(() => setRefusal(''), 6000);
    return () => clearTimeout(timer);
  }, [refusal]);
  const minZoom = leastZoom(workflow.tasks.length);
  useFitting(fitting, workflow.tasks.length);
  return (
    <ReactFlow nodes={nodes} edges={edges} nodeTypes={nodeTypes} onNodesChange={changeNodes} onEdgesChange={changeEdges} onlyRenderVisibleElements minZoom={minZoom} maxZoom={2}
      onConnect={({ source, target }) => editor?.apply({ kind: 'AddEdge', from: source, to: target })} isValidConnection={isValid} connectionRadius={28}
      onDelete={(gone) => editor?.apply({ kind: 'RemoveParts', taskIds: new Set(gone.nodes.map(({ id }) => id)), edges: gone.edges.map(({ source: from, target: to }) => ({ from, to })) })}
      deleteKeyCode={editor === undefined ? null : ['Delete', 'Backspace']} nodesDraggable={editor !== undefined} nodesConnectable={editor !== undefined} edgesFocusable={editor !== undefined} elementsSelectable={editor !== undefined || onOpen !== undefined}
      onNodeClick={(_, node) => onOpen?.(node.id)} multiSelectionKeyCode={['Shift', 'Control', 'Meta']} selectionKeyCode="Shift" zoomOnDoubleClick={false} preventScrolling={editor !== undefined} proOptions={{ hideAttribution: true }} fitView fitViewOptions={{ maxZoom: 1, minZoom }}>
      <Background variant={BackgroundVariant.Dots} gap={24} size={1} />
      <Controls showInteractive={false} />
      {workflow.tasks.length > 12 ? <Overview nodes={nodes} /> : null}
      {refusal === '' ? null : <p className="flow-refusal" role="alert">{refusal}</p>}
    </ReactFlow>
  );
}

function useFitting(fitting: number, taskCount: number): void {
  const { fitView } = useReactFlow();
  useEffect(() => {
    if (fitting === 0 || taskCount === 0) return undefined;
    // The boxes are in the graph's own store only after this effect.
    const timer = setTimeout(() => { void fitView({ maxZoom: 1, minZoom: leastZoom(taskCount), padding: 0.12, duration: 0 }); }, 30);
    return () => clearTimeout(timer);
  }, [fitting, fitView]);
}

function useNodeChanges(editor: Editor | undefined, { dragged, setDragged }: { readonly dragged: typeof noPlaces; readonly setDragged: (places: typeof noPlaces) => void }): (changes: NodeChange<TaskFlowNode>[]) => void {
  return useCallback((changes) => {
    if (editor === undefined) return;
    const moves = changes.filter((change) => change.type === 'position');
    const places = new Map([...dragged, ...moves.flatMap(({ id, position }) => (position === undefined ? [] : [[id, position] as const]))]);
    if (moves.some(({ dragging }) => dragging === true)) setDragged(places);
    else if (moves.length > 0) {
      setDragged(noPlaces);
      const rounded = [...places].map(([id, { x, y }]) => [id, { x: Math.round(x), y: Math.round(y) }] as const);
      if (rounded.length > 0) editor.apply({ kind: 'MoveTasks', places: new Map(rounded) }, dragged.size === 0 ? 'arrow keys' : '');
    }
    if (changes.some(({ type }) => type === 'select')) editor.select((old) => ({ tasks: selected(changes, old.tasks), edges: old.edges }));
  }, [editor, dragged, setDragged]);
}

function selected(changes: readonly (NodeChange<TaskFlowNode> | EdgeChange)[], old: Selection['tasks']): Selection['tasks'] {
  const next = new Set(old);
  for (const change of changes) {
    if (change.type !== 'select') continue;
    if (change.selected) next.add(change.id);
    else next.delete(change.id);
  }
  return next;
}

