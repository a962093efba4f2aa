# links_of(<document> <result>): the targets of a Markdown document's relative links, without anchors. Blocks of code have none.
function(links_of document result)
  file(READ "${document}" text)
  string(REPLACE ";" "," text "${text}")
  string(REGEX REPLACE "```[^`]*```" "" text "${text}")
  string(REPLACE "](" "@to@" text "${text}")  # brackets would join the elements of lists
  string(REGEX REPLACE "[][]" "" text "${text}")
  string(REGEX MATCHALL "@to@[^)#: ]+[)#]" links "${text}")
  list(TRANSFORM links REPLACE "^@to@|[)#]$" "")
  set(${result} "${links}" PARENT_SCOPE)
endfunction()
