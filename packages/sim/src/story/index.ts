export { describe, type Telling } from './describe.ts';
export { idsOf } from './ids-of.ts';
export { everything, Story, type StoryEvent } from './story.ts';
