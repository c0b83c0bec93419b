export { aCallContext, inject } from './inject.ts';
export { aGroup, aJob, aMachine, anEnd } from './broker.ts';
export { checkInteractions, playInteractions, type Comparison, type Perform } from './interaction.ts';
export { describeProviderCommand, ProviderDialogue } from './provider-dialogue.ts';
export { streamPair, type StreamEnd } from './stream-pair.ts';
export { until } from './until.ts';
