#error "a header of the user was included by a header of Catena"
