export { aCallContext, inject } from './inject.ts';
export { checkInteractions, playInteractions, type Comparison, type Perform } from './interaction.ts';
export { describeProviderCommand, ProviderDialogue } from './provider-dialogue.ts';
export { until } from './until.ts';
export { streamPair, type StreamEnd } from './stream-pair.ts';
