export { describe, type Narration } from './describe.ts';
export { listIds } from './list-ids.ts';
export { everything, Story, type StoryEvent } from './story.ts';
