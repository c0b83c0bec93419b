export const provide = 'provide';
