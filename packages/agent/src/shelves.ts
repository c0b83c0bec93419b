import type { StartReplicas, TaskTemplate } from '@mutirao/core/messages';

/** Where the contents of a task are kept: those of the owner's tasks together (undefined), those of other users each apart. */
export function shelfOf({ isForeign, userId }: Pick<TaskTemplate, 'isForeign' | 'userId'>): string | undefined {
  return isForeign === true ? userId : undefined;
}

/** Says of the inputs of another user's tasks whose they are. */
export function shelveInputs(batch: StartReplicas): StartReplicas {
  const shelf = shelfOf(batch.template);
  if (shelf === undefined) return batch;
  const replicas = batch.replicas.map((replica) => ({ ...replica, inputs: replica.inputs.map((input) => ({ ...input, content: { ...input.content, shelf } })) }));
  return { ...batch, replicas };
}
