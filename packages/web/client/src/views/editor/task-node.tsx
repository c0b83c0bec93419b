import { memo, type ReactNode } from 'react';
import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { getInk, taskInks } from '../../model/palette.ts';

/** What a task's box shows. */
export type TaskNodeData = {
  readonly id: string;
  readonly title: string;
  readonly more: string;
  readonly isCritical: boolean;
  /** Of the run that is watched; empty where none is. */
  readonly status: string;
};
export type TaskFlowNode = Node<TaskNodeData, 'task'>;

/** A task of the graph. */
export const TaskNode = memo(function TaskNode({ data, isConnectable }: NodeProps<TaskFlowNode>): ReactNode {
  const { id, title, more, isCritical, status } = data;
  const ink = status === '' ? undefined : getInk(taskInks, status);
  return (
    <div className={`task-node${isCritical ? ' critical' : ''}${status === '' ? '' : ' has-status'}`} title={id}>
      <Handle type="target" position={Position.Top} isConnectable={isConnectable} />
      {ink === undefined ? null : (
        <i className={`node-status ${ink.pattern}`} style={{ backgroundColor: ink.colour }} aria-hidden="true" />
      )}
      <b>{title}</b>
      <span>{ink === undefined ? more : `${ink.mark} ${ink.title}`}</span>
      <Handle type="source" position={Position.Bottom} isConnectable={isConnectable} />
    </div>
  );
});
