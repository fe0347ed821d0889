export const Agent = () => null
