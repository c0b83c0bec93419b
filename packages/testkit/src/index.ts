export { checkInteractions, playInteractions, type Comparison, type Perform } from './interaction.ts';
export { until } from './until.ts';
