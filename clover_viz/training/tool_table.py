"""The tools of the agent traffic, as text that `tools.py` reads.

@ group            one tool begins; tools of one group are near to each other
names a b c        names it may carry
param p? = n m : kind ; k : kind2 | question     `?` optional; the name decides the kind; question when missing
+ / -              a request in training / held-out wording; [ ] holds an optional part
?p / !p            the same with required parameter p left out
> / <              a follow-up to the last call that changes only what it names
result f=kind      fields of the result; say: its sentence, chosen by the tool's name
"""

HOME = """
@ light
names set_light switch_light control_lamp light_control
param room = room area place zone : room | In which room?
param on = on enabled : switch ; state power : switchword
+ Turn {on} the light in the {room}.
+ Switch the {room} light {on}.
+ Lights {on} in the {room}.
+ Turn the {room} lamp {on}.
+ I want the lights {on} in the {room}.
+ Can you switch {on} the lamp in the {room}?
+ {room}: light {on}
+ Could you turn the lights in the {room} {on}?
- It would help if the {room} lamp were {on}.
- Make sure the lights are {on} over in the {room}.
- Flip the {room} lights {on}, will you?
- For the {room}, I'd like the light to be {on}.
?room Turn the light {on}.
!room The lamp should be {on}, please.
result status=ok
say The light in the {room} is set.
say Done, I set the light in the {room}.

@ light
names set_brightness dim_lights light_level
param room = room area zone : room | In which room?
param level = brightness level percent : percent | How bright, in percent?
+ Dim the {room} to {level}.
+ Set the {room} brightness to {level}.
+ Set the lights in the {room} to {level}.
+ Brightness {level} in the {room}.
+ Make the {room} light {level} bright.
+ Can you dim the {room} lights to {level}?
+ Put the {room} lamps at {level}.
+ I need {level} brightness in the {room}.
- The {room} would be nicer at {level} light.
- Bring the lamps of the {room} to {level}.
- Have the lights at {level} for the {room}.
- {level} is how bright I want the {room}.
?level Dim the lights in the {room}.
!level The {room} is too bright.
result brightness=@level
say The {room} is now at {brightness} percent.
say Brightness in the {room}: {brightness} percent.

@ heating
names set_temperature set_thermostat heat_room thermostat
param room = room zone area : room | In which room?
param degrees = degrees temperature target celsius : degrees | How many degrees?
+ Set the {room} to {degrees}.
+ Heat the {room} to {degrees}.
+ Make it {degrees} in the {room}.
+ Thermostat in the {room} to {degrees}.
+ I want {degrees} in the {room}.
+ Can you set the heating in the {room} to {degrees}?
+ Put the {room} heating at {degrees}.
+ Change the temperature of the {room} to {degrees}.
- The {room} should be at {degrees}.
- Let the {room} get to {degrees}.
- Please have {degrees} waiting for me in the {room}.
- Aim for {degrees} over in the {room}.
?degrees Heat the {room}.
?room Set the thermostat to {degrees}.
!degrees It is cold in the {room}.
!room I would like {degrees} in here.
> And {degrees} in the {room}.
< The {room} as well, at {degrees}.
result now=degrees_field
say The {room} is at {now} degrees now.
say It is {now} degrees in the {room} at the moment.

@ heating
names set_climate_mode ac_mode hvac_mode
param mode = mode program : mode | Heat, cool or fan?
param room? = room zone : room
+ Set the air conditioning to {mode}[ in the {room}].
+ Switch the climate mode to {mode}[ in the {room}].
+ Climate to {mode}[ for the {room}].
+ Put the air conditioner on {mode}[ in the {room}].
+ Run {mode} mode[ in the {room}].
+ Change the climate unit to {mode}[ in the {room}].
+ AC to {mode}[ in the {room}], please.
+ I'd like {mode} mode[ in the {room}].
- {mode} is the mode I want from the air conditioning[ in the {room}].
- Have the climate unit go to {mode}[ over in the {room}].
- The AC[ in the {room}] belongs on {mode}.
- Let the air conditioner {mode}[ the {room}] for now.
?mode Change the climate mode.
!mode The air conditioning needs another mode.
result status=ok
say The climate mode is set to {mode}.
say Now running in {mode} mode.

@ music
names play_music play_genre start_music
param genre = genre style kind : genre | Which genre?
param room? = room speaker zone : room
+ Play some {genre}[ in the {room}].
+ Put on {genre} music[ in the {room}].
+ I want to hear {genre}[ in the {room}].
+ Start some {genre}[ in the {room}].
+ Can you play {genre} music[ in the {room}]?
+ {genre} music[ in the {room}], please.
+ Let's have some {genre}[ in the {room}].
+ Music: {genre}[, in the {room}]
- I'm in the mood for {genre}[ over in the {room}].
- Some {genre} would be lovely[ for the {room}].
- Let the speakers fill the air with {genre}[ in the {room}].
- How about a bit of {genre}[ for the {room}]?
?genre Play some music[ in the {room}].
!genre I feel like listening to something.
result track=title_field
say Now playing {track}.
say {track} is playing.

@ music
names play_song play_track start_song
param title = title song track name : title | Which song?
param artist? = artist by performer : artist
+ Play the song "{title}"[ by {artist}].
+ Play "{title}"[ by {artist}].
+ I want to hear "{title}"[ by {artist}].
+ Put on the song {title}[ by {artist}].
+ Can you play the track {title}[ by {artist}]?
+ Start the song "{title}"[ from {artist}].
+ Please play {title}[ by {artist}].
+ Queue the track "{title}"[ by {artist}].
- Let me listen to "{title}"[, the one {artist} sings].
- "{title}"[ by {artist}] is what I'd like to hear.
- Would you mind starting the track called {title}[ by {artist}]?
- My ears need "{title}"[ from {artist}] now.
?title Play a song[ by {artist}].
!title Start a track for me.
result album=title_field length=minutes_field
say Playing {title} from the album {album}.
say {title} is on, from {album}.

@ music
names set_volume change_volume volume
param level = level volume percent : percent | How loud, in percent?
+ Set the volume to {level}.
+ Volume {level}.
+ Turn the volume to {level}.
+ Make it {level} loud.
+ Change the sound level to {level}.
+ Put the speakers at {level}.
+ Can you set the volume to {level}?
+ I want the volume at {level}.
- {level} would be a good volume.
- Bring the sound to {level}.
- Have the speakers play at {level}.
- Let's go with {level} on the volume knob.
?level Change the volume.
!level It is not loud enough.
result volume=@level
say The volume is at {volume} percent.
say Volume: {volume} percent.

@ lock
names lock_door door_lock secure_door
param door = door entrance which : room | Which door?
param locked = locked lock : locked
+ {locked} the {door} door.
+ Please {locked} the door of the {door}.
+ Can you {locked} the {door} door?
+ I want you to {locked} the {door} door.
+ {locked} the door to the {door}.
+ Could you {locked} the {door}?
+ Go and {locked} the {door} door.
+ Now {locked} the {door} door.
- Would you {locked} up the {door} for me?
- The {door} door is the one to {locked}.
- I need someone to {locked} that {door} door.
- Time to {locked} the entrance of the {door}.
?door {locked} the door.
!door I would like you to {locked} it.
result status=ok
say The {door} door is done.
say Finished with the {door} door.

@ clean
names start_vacuum vacuum_room clean_floor
param room = room area zone : room | Which room?
param power? = power suction strength : level
+ Vacuum the {room}[ at {power} power].
+ Clean the floor of the {room}[ with {power} power].
+ Start the robot in the {room}[ at {power} power].
+ Have the robot clean the {room}[ on {power}].
+ Send the vacuum to the {room}[ with {power} suction].
+ Can you vacuum the {room}[ on {power} power]?
+ The {room} needs vacuuming[, {power} power].
+ Run the vacuum in the {room}[ on {power}].
- There are crumbs in the {room}; get the robot going[ on {power}].
- Let the little robot loose in the {room}[ at {power} power].
- My {room} floor is dirty, vacuum it[ on {power}].
- Could the vacuum take care of the {room}[ with {power} power]?
?room Start the vacuum robot.
!room The floor is full of dust.
result minutes=minutes_field
say The robot will need {minutes} minutes for the {room}.
say Cleaning the {room} takes {minutes} minutes.

@ camera
names show_camera open_camera camera_view
param room = room camera location : room | Which camera?
+ Show me the {room} camera.
+ Open the camera in the {room}.
+ Let me see the {room}.
+ Camera view of the {room}.
+ What does the {room} camera see?
+ Can I see the camera of the {room}?
+ Display the {room} camera.
+ I'd like to look at the {room} camera.
- Is anything moving in the {room}? Show me.
- Give me a look into the {room}.
- Put the picture from the {room} on screen.
- I wonder what is happening in the {room}; open its camera.
?room Show me a camera.
!room Give me the camera picture.
result motion=motion
say The {room} camera shows {motion}.
say In the {room} there is {motion}.
"""

TIME = """
@ timer
names set_timer start_timer countdown timer
param minutes = minutes duration length mins : minutes | For how many minutes?
param label? = label name title : label
+ Set a timer for {minutes}[ called {label}].
+ Start a timer of {minutes}[ named {label}].
+ Timer for {minutes}[, name it {label}].
+ Count down {minutes}[ for the {label}].
+ Can you set a {minutes} timer[ with the label {label}]?
+ I need a timer for {minutes}[ called {label}].
+ Start counting down {minutes}[ as {label}].
+ New timer: {minutes}[, {label}]
- Beep when {minutes} are over[; call it {label}].
- Let me know once {minutes} have passed[, label {label}].
- Put {minutes} on the clock[ under the name {label}].
- Tell me as soon as {minutes} are up[ ({label})].
?minutes Set a timer[ called {label}].
!minutes I need you to count down for me.
result id=orderid_field
say Timer {id} is running.
say Your timer runs with the number {id}.

@ alarm
names set_alarm create_alarm wake_me alarm
param time = time at when clock : time | For what time?
param day? = day date on : day
+ Set an alarm for {time}[ {day}].
+ Wake me up at {time}[ {day}].
+ Alarm at {time}[ {day}].
+ Can you wake me at {time}[ {day}]?
+ I have to get up at {time}[ {day}].
+ Please set my alarm to {time}[ {day}].
+ Create an alarm for {time}[ {day}].
+ Get me up at {time}[ {day}].
- I must be awake by {time}[ {day}].
- Ring me out of bed at {time}[ {day}].
- Don't let me sleep past {time}[ {day}].
- {time}[ {day}] is when I need to wake.
?time Set an alarm[ {day}].
!time I don't want to oversleep[ {day}].
> Make it {time} instead.
< No, {time} would be better.
result id=orderid_field
say Alarm {id} is set.
say Your alarm has the number {id}.

@ reminder
names add_reminder create_reminder remind_me set_reminder
param task = task text what about : task | What should I remind you of?
param time = time at when : time | At what time?
param day? = day date on : day
+ Remind me[ {day}] at {time} to {task}.
+ At {time}[ {day}], remind me to {task}.
+ Set a reminder[ {day}] at {time}: {task}
+ I need a reminder at {time}[ {day}] to {task}.
+ Add a reminder for {time}[ {day}]: {task}
+ Can you remind me to {task} at {time}[ {day}]?
+ Remind me to {task} at {time}[ {day}].
+ New reminder, {time}[ {day}]: {task}
- Don't let me forget to {task} at {time}[ {day}].
- When it is {time}[ {day}], tell me to {task}.
- Make sure I {task} at {time}[ {day}].
- I must {task} at {time}[ {day}]; nudge me.
?time Remind me[ {day}] to {task}.
?task Remind me of something at {time}[ {day}].
!time Don't let me forget to {task}[ {day}].
!task Nudge me at {time}[ {day}].
result id=orderid_field
say Reminder {id} is saved.
say I saved your reminder as {id}.

@ calendar
names add_event create_event schedule_event calendar_add
param title = title event subject name : event | What is the event called?
param date = date on day when : date | On which date?
param time? = time start at : time
+ Add "{title}" to my calendar on {date}[ at {time}].
+ Put {title} in my calendar for {date}[ at {time}].
+ Create an event {title} on {date}[ at {time}].
+ Schedule {title} on {date}[ at {time}].
+ Calendar: {title}, {date}[, {time}]
+ I have {title} on {date}[ at {time}], add it to my calendar.
+ Can you schedule {title} for {date}[ at {time}]?
+ New event on {date}[ at {time}]: {title}
- Block {date}[ at {time}] for {title}.
- My {date} should have {title} in it[ at {time}].
- Pencil in {title} for {date}[, {time}].
- There will be {title} on {date}[ at {time}]; note it in the calendar.
?date Add {title} to my calendar.
?title Put an event in my calendar on {date}[ at {time}].
!date Pencil in {title}.
!title Block {date}[ at {time}] for me.
result id=orderid_field conflict=several_field
say The event {id} is in your calendar.
say Added to your calendar as {id}.

@ calendar
names list_events get_agenda show_calendar
param date = date day on : date | For which date?
+ What is on my calendar on {date}?
+ Show my events on {date}.
+ What do I have on {date}?
+ List my appointments for {date}.
+ Which meetings do I have on {date}?
+ My agenda for {date}, please.
+ Show me the calendar of {date}.
+ Do I have anything on {date}?
- Am I busy on {date}?
- How does {date} look for me?
- Read me the plan of {date}.
- Is {date} full already?
?date Show my calendar.
!date Am I busy?
> And on {date}?
< Then how does {date} look?
result events=several_field first=event_field
say You have {events} events, the first is {first}.
say There are {events} events; it starts with {first}.

@ calendar
names cancel_event delete_event remove_event
param id = id event_id event code : orderid | What is the number of the event?
+ Cancel event {id}.
+ Delete the event {id} from my calendar.
+ Remove event {id}.
+ Take {id} off my calendar.
+ Please cancel the appointment {id}.
+ Can you delete event number {id}?
+ Event {id} is off, remove it.
+ Drop the event {id}.
- {id} will not take place, clear it.
- I can't make it to {id}; get rid of that event.
- Strike {id} from the agenda.
- Forget about the event {id}.
?id Cancel an event.
!id I can't make it, drop the event.
result status=ok
say Event {id} is cancelled.
say I removed event {id}.

@ clock
names get_time time_in world_clock
param city = city location place zone : city | In which city?
+ What time is it in {city}?
+ Time in {city}?
+ Tell me the time in {city}.
+ What is the local time in {city}?
+ Give me the current time for {city}.
+ How late is it in {city}?
+ Show the clock of {city}.
+ I need to know the time in {city}.
- What does the clock say over in {city}?
- If I called {city}, what time would it be there?
- Is it late in {city} at the moment? Check the clock.
- Look up the hour for {city}.
?city What time is it there?
!city Look up the local hour for me.
> And in {city}?
< How late would that be for {city}?
result time=clock_field
say It is {time} in {city}.
say In {city} it is {time} now.
"""

PEOPLE = """
@ text
names send_text send_message text_message send_sms
param to = to recipient contact person : person | Who should get the message?
param text = text message body content : text | What should the message say?
+ Text {to}: {text}
+ Send a message to {to}: {text}
+ Send {to} the message "{text}"
+ Message {to} that {text}
+ Tell {to} by text: {text}
+ Write a text to {to} saying "{text}"
+ Can you text {to} "{text}"?
+ Send the text "{text}" to {to}.
- Let {to} know: {text}
- {to} should read this on the phone: "{text}"
- Drop {to} a line saying "{text}"
- "{text}" is what I want {to} to get as a text.
?text Send a message to {to}.
?to Send the message "{text}"
!text I have to let {to} know something.
!to Let them know: "{text}"
> Send {to} the same message.
< {to} should get the same one.
result status=sent id=orderid_field
say Your message to {to} is sent.
say Message {id} went to {to}.

@ mail
names send_email write_email email_send
param to = to address recipient email : email | To which address?
param subject = subject title heading : topic | What is the subject?
param body? = body text content : text
+ Email {to} about "{subject}"[ with the text "{body}"].
+ Send an email to {to} with the subject "{subject}"[ and the text "{body}"].
+ Write an email to {to}, subject "{subject}"[, text "{body}"].
+ Mail to {to}, subject: {subject}[; body: {body}]
+ New email to {to}. Subject: {subject}[. Text: {body}]
+ Can you email {to}? The subject is "{subject}"[ and the text "{body}"].
+ Compose a mail for {to} titled "{subject}"[ saying "{body}"].
+ Send {to} a mail called "{subject}"[ that says "{body}"].
- {to} is waiting for a mail headed "{subject}"[; write "{body}" in it].
- In the inbox of {to} there should be "{subject}"[ with "{body}"].
- Get a mail named "{subject}"[ reading "{body}"] over to {to}.
- Under the heading "{subject}", write to {to}[: "{body}"].
?to Send an email with the subject "{subject}".
?subject Send an email to {to}.
!to A mail titled "{subject}" has to go out.
!subject Write to {to}.
result id=orderid_field
say The email to {to} was sent as {id}.
say Sent to {to} with the number {id}.

@ call
names call_contact phone_call make_call dial
param name = name contact person who : person | Who should I call?
param speaker? = speaker speakerphone loudspeaker : speaker
+ Call {name}[ {speaker}].
+ Phone {name}[ {speaker}].
+ Can you call {name}[ {speaker}]?
+ Make a call to {name}[ {speaker}].
+ I want to talk to {name}[ {speaker}].
+ Dial {name}[ {speaker}].
+ Start a call with {name}[ {speaker}].
+ Please ring {name}[ {speaker}].
- Get {name} on the line[ {speaker}].
- Put me through to {name}[ {speaker}].
- I have to speak with {name}[ {speaker}].
- {name} is expecting my call[, do it {speaker}].
?name Make a call.
!name Get them on the line.
result minutes=minutes_field
say The call with {name} took {minutes} minutes.
say You talked to {name} for {minutes} minutes.

@ contact
names find_contact get_contact lookup_contact contact_search
param name = name person who contact : person | Whose contact?
+ Find the contact {name}.
+ What is the phone number of {name}?
+ Look up {name} in my contacts.
+ Give me the number of {name}.
+ Search my contacts for {name}.
+ What's {name}'s number?
+ Do I have a contact called {name}?
+ Show me the contact of {name}.
- How can I reach {name}?
- I lost the number of {name}.
- Which number does {name} have?
- Is {name} in my address book?
?name Look up a contact.
!name I lost a phone number.
> And {name}?
< What about {name}'s?
result phone=phone_field email=email_field
say {name}: {phone}, {email}.
say The number of {name} is {phone}.

@ contact
names add_contact save_contact new_contact
param name = name person contact : person | What is the name?
param phone = phone number tel : phone | What is the phone number?
+ Save {name} with the number {phone}.
+ Add a contact {name}, {phone}.
+ New contact: {name}, {phone}
+ Store the number {phone} for {name}.
+ Add {phone} as the number of {name}.
+ Can you save the contact {name} with {phone}?
+ Create a contact for {name} with {phone}.
+ Put {name} in my contacts, number {phone}.
- {phone} belongs to {name}, keep it.
- My address book should have {name} under {phone}.
- From now on {name} has {phone}.
- Keep {phone}; that is {name}.
?phone Add a contact for {name}.
!phone Keep {name} in my address book.
result id=orderid_field
say {name} is saved as contact {id}.
say Contact {id} for {name} is stored.

@ note
names add_note create_note save_note take_note
param text = text note content body : note | What should the note say?
+ Take a note: {text}
+ Note: {text}
+ Write this down: {text}
+ Save a note that says "{text}"
+ Make a note: {text}
+ Add the note "{text}"
+ New note: {text}
+ Please note down: {text}
- I want to keep this: "{text}"
- Jot down "{text}"
- Put on paper: {text}
- For my notebook: {text}
?text Take a note.
!text Jot something down.
result id=orderid_field
say The note is saved as {id}.
say Saved, note {id}.

@ note
names search_notes find_note note_search
param query = query text keyword q : topic | What should I search for?
+ Search my notes for {query}
+ Find the note about {query}
+ Look in my notes for "{query}"
+ Which notes mention {query}?
+ Show notes about {query}
+ Do I have a note on {query}?
+ Notes about "{query}", please.
+ Find "{query}" in my notes.
- I once wrote down something on {query}
- Dig out what my notebook says about "{query}"
- Where in my notes did I put {query}?
- Go through my notes until you see {query}
?query Search my notes.
!query I once wrote something down.
result found=several_field first=title_field
say I found {found} notes, the first is {first}.
say {found} notes match; the first is {first}.

@ list
names add_to_list add_item shopping_add list_add
param item = item product name what : item | What should I add?
param quantity? = quantity count amount number : count
+ Add[ {quantity}] {item} to my shopping list.
+ Put[ {quantity}] {item} on the shopping list.
+ Shopping list:[ {quantity}] {item}
+ Write[ {quantity}] {item} on the list.
+ I need to buy[ {quantity}] {item}, add it to the list.
+ Can you add[ {quantity}] {item} to the list?
+ Please put[ {quantity}] {item} on my list.
+ Add to the list:[ {quantity}] {item}
- We ran out of {item}[; get {quantity}].
- {item} should be on the list[, {quantity} of them].
- Next time at the shop I need[ {quantity}] {item}.
- Don't let me leave the store without[ {quantity}] {item}.
?item Add something to my shopping list.
!item The shopping list needs one more thing.
> Also[ {quantity}] {item}.
< And don't forget[ {quantity}] {item}.
result items=several_field
say Added; your list has {items} items.
say {item} is on the list, {items} items in all.
"""

TRAVEL = """
@ weather
names get_weather check_weather weather_forecast lookup_weather
param city = city location place town : city | For which city?
param day? = day date when : day
+ What is the weather in {city}[ {day}]?
+ What's the weather like in {city}[ {day}]?
+ How is the weather in {city}[ {day}]?
+ Weather in {city}[ {day}]?
+ Will it rain in {city}[ {day}]?
+ Give me the forecast for {city}[ {day}].
+ Is it sunny in {city}[ {day}]?
+ Tell me the weather for {city}[ {day}].
+ Check the weather in {city}[ {day}].
- Do I need an umbrella in {city}[ {day}]?
- I'm going to {city}[ {day}], what should I expect from the sky?
- How warm does it get in {city}[ {day}]?
- {city}[ {day}]: rain or shine?
?city What is the weather like[ {day}]?
?city Will it rain[ {day}]?
!city Do I need an umbrella[ {day}]?
> And in {city}?
> What about {city}?
< How about {city}, then?
result temp=temp sky=sky
say It is {temp} degrees and {sky} in {city}.
say {city}: {sky}, {temp} degrees.

@ flight
names search_flights find_flights flight_search get_flights
param from = from origin departure start : city | From where?
param to = to destination arrival : city | Where to?
param date? = date day on : date
+ Find flights from {from} to {to}[ on {date}].
+ I need a flight from {from} to {to}[ on {date}].
+ Search for flights to {to} from {from}[ on {date}].
+ Flights {from} to {to}[, {date}]
+ Which flights go from {from} to {to}[ on {date}]?
+ Show me flights between {from} and {to}[ on {date}].
+ I want to fly from {from} to {to}[ on {date}].
+ Can you look for a flight from {from} to {to}[ on {date}]?
- Get me by plane to {to}, starting in {from}[, {date}].
- What leaves {from} by air for {to}[ on {date}]?
- I'm in {from} and have to fly to {to}[ on {date}].
- To {to} by air[ on {date}], and I start in {from}.
?from Find a flight to {to}[ on {date}].
?to I need a flight from {from}[ on {date}].
!from Get me by plane to {to}.
!to I have to fly out of {from}[ on {date}].
> Now from {from} to {to}.
< The other one: {from} to {to}.
result flight=flight_field time=clock_field price=price_field
say Flight {flight} leaves at {time} and costs {price}.
say {flight} at {time} for {price}.

@ train
names search_trains find_train train_search get_trains
param from = from origin start departure : city | From where?
param to = to destination goal : city | Where to?
param time? = time after at departure_time : time
+ Find a train from {from} to {to}[ at {time}].
+ When does the train from {from} to {to} leave[ after {time}]?
+ Trains from {from} to {to}[ after {time}]?
+ I need a train from {from} to {to}[ at {time}].
+ Which train goes from {from} to {to}[ around {time}]?
+ Search trains between {from} and {to}[ after {time}].
+ I want to take the train from {from} to {to}[ at {time}].
+ Next train {from} to {to}[, {time}]
- How do I get by rail from {from} to {to}[ after {time}]?
- By train to {to}, leaving {from}[ at {time}].
- What is there on the rails between {from} and {to}[ past {time}]?
- I'm at {from} station and have to be in {to}[, train after {time}].
?from Find a train to {to}[ at {time}].
?to Find a train from {from}[ at {time}].
!from How do I get by rail to {to}?
!to What leaves {from} by rail?
result train=orderid_field time=clock_field platform=platform
say Train {train} leaves at {time} from platform {platform}.
say Take {train} at {time}, platform {platform}.

@ flight
names flight_status track_flight check_flight
param flight = flight number flight_number code : flight | What is the flight number?
+ What is the status of flight {flight}?
+ Is flight {flight} on time?
+ Check flight {flight}.
+ Where is flight {flight}?
+ Status of {flight}?
+ Is {flight} delayed?
+ Track flight {flight} for me.
+ Has {flight} landed?
- When will {flight} touch down?
- Any delay for {flight}?
- I'm picking someone up from {flight}; how is it doing?
- {flight}: still in the air?
?flight Is my flight on time?
!flight Any delay for my flight?
result status=flightstatus gate=orderid_field
say {flight} is {status}, gate {gate}.
say Flight {flight}: {status} at gate {gate}.

@ hotel
names book_hotel reserve_hotel hotel_booking
param city = city location place : city | In which city?
param nights = nights duration stay : party | For how many nights?
param guests? = guests people persons : party
+ Book a hotel in {city} for {nights} nights[ and {guests} guests].
+ Reserve a room in {city} for {nights} nights[ for {guests} people].
+ I need a hotel in {city}, {nights} nights[, {guests} guests].
+ Hotel in {city}: {nights} nights[, {guests} people]
+ Find me a hotel room in {city} for {nights} nights[, {guests} guests].
+ Can you book {nights} nights in {city}[ for {guests} guests]?
+ I want to stay {nights} nights in {city}[ with {guests} people].
+ Get a hotel for {nights} nights in {city}[, {guests} guests].
- We will sleep in {city} for {nights} nights[, {guests} of us].
- {nights} nights under a roof in {city}[ for {guests}], please arrange it.
- A bed in {city} is needed, {nights} nights[, {guests} guests].
- Arrange {nights} nights[ for {guests} persons] somewhere in {city}.
?city Book a hotel for {nights} nights.
?nights Book a hotel in {city}.
!city I need a bed for {nights} nights.
!nights Arrange a room somewhere in {city}.
result hotel=place_field price=price_field
say {hotel} in {city} is booked for {price}.
say Booked: {hotel}, {price}.

@ food
names book_table reserve_table restaurant_booking
param restaurant = restaurant place name where : place | At which restaurant?
param people = people guests party_size seats : party | For how many people?
param time = time at when : time | At what time?
+ Book a table at {restaurant} for {people} people at {time}.
+ Reserve a table for {people} at {restaurant} at {time}.
+ Table for {people} at {restaurant}, {time}.
+ I'd like a table at {restaurant} for {people} at {time}.
+ Can you book {restaurant} at {time} for {people} people?
+ Please reserve {restaurant} for {people} people at {time}.
+ We are {people}; book {restaurant} at {time}.
+ At {time}, a table for {people} at {restaurant}.
- {people} of us want to eat at {restaurant} at {time}.
- Get us into {restaurant} at {time}, party of {people}.
- See if {restaurant} takes {people} guests at {time} and book it.
- Dinner for {people} at {restaurant}, starting {time}; arrange it.
?time Book a table at {restaurant} for {people}.
?people Reserve {restaurant} at {time}.
!time Get us into {restaurant}, party of {people}.
!people We want to eat at {restaurant} at {time}.
result code=orderid_field
say Your table at {restaurant} has the code {code}.
say Booked at {restaurant}: {code}.

@ food
names find_restaurants restaurant_search search_restaurants
param cuisine = cuisine food kind type : cuisine | Which kind of food?
param city = city location near place : city | In which city?
+ Find a {cuisine} restaurant in {city}.
+ Where can I eat {cuisine} food in {city}?
+ {cuisine} restaurants in {city}?
+ I want {cuisine} food in {city}.
+ Show me {cuisine} places in {city}.
+ Search for {cuisine} restaurants in {city}.
+ Any good {cuisine} restaurant in {city}?
+ Look for {cuisine} food in {city}.
- I'm hungry for something {cuisine} in {city}.
- Where in {city} do they cook {cuisine}?
- My stomach says {cuisine}, and I'm in {city}.
- Who serves {cuisine} dishes around {city}?
?city Find a {cuisine} restaurant.
?cuisine Find a restaurant in {city}.
!city I'm hungry for something {cuisine}.
!cuisine I'm hungry, and I'm in {city}.
result name=place_field rating=rating
say {name} in {city} has {rating} stars.
say Try {name}, rated {rating}.

@ route
names get_route navigate directions plan_route
param to = to destination target goal : city | Where to?
param from? = from origin start : city
param by? = by mode means vehicle : travel
+ Navigate to {to}[ from {from}][ by {by}].
+ Show me the way to {to}[ from {from}][ by {by}].
+ How do I get to {to}[ from {from}][ by {by}]?
+ Directions to {to}[ from {from}][ by {by}].
+ Plan a route to {to}[ from {from}][ by {by}].
+ Take me to {to}[ from {from}][ by {by}].
+ What is the way to {to}[ from {from}][ by {by}]?
+ Route to {to}[ from {from}][ by {by}], please.
- I have to reach {to}[, starting at {from}][, by {by}].
- Guide me[ from {from}] to {to}[ by {by}].
- Which road leads to {to}[ from {from}][ by {by}]?
- Bring me[ from {from}] over to {to}[ by {by}].
?to Start the navigation.
!to Guide me, please.
result km=several_field minutes=minutes_field
say It is {km} km and takes {minutes} minutes.
say {minutes} minutes for {km} km to {to}.

@ taxi
names order_taxi call_taxi book_ride get_cab
param from = from pickup start address : place | Where should it pick you up?
param time? = time at when : time
+ Order a taxi to {from}[ at {time}].
+ I need a taxi at {from}[ at {time}].
+ Get me a cab from {from}[ at {time}].
+ Book a ride from {from}[ for {time}].
+ Taxi to {from}[ at {time}], please.
+ Call a taxi for me at {from}[ at {time}].
+ Can you send a cab to {from}[ at {time}]?
+ Pick me up at {from}[ at {time}] by taxi.
- I'm standing at {from} and need a ride[ at {time}].
- Someone has to drive me from {from}[ at {time}].
- Let a cab come to {from}[, {time}].
- From {from} I won't walk, get a car[ for {time}].
?from Order a taxi[ at {time}].
!from I need someone to drive me[ at {time}].
result minutes=minutes_field plate=orderid_field
say The taxi {plate} arrives in {minutes} minutes.
say Your cab is {plate}, {minutes} minutes away.
"""

WORK = """
@ convert
names convert_currency exchange_rate currency_convert
param amount = amount value sum : amount | How much?
param from = from source from_currency : currency | From which currency?
param to = to target to_currency : currency | To which currency?
+ Convert {amount} {from} to {to}.
+ How much is {amount} {from} in {to}?
+ What are {amount} {from} in {to}?
+ Change {amount} {from} into {to}.
+ {amount} {from} to {to}
+ Exchange {amount} {from} for {to}.
+ Give me {amount} {from} in {to}.
+ I have {amount} {from}, how many {to} is that?
- What would I get in {to} for {amount} {from}?
- If I swap {amount} {from} for {to}, what comes out?
- My wallet holds {amount} {from}; I want to know it in {to}.
- Tell me the worth of {amount} {from} counted in {to}.
?to How much is {amount} {from}?
!to I want to swap {amount} {from}.
> And {amount} {from} in {to}?
< Now {amount} {from}, in {to}.
result result=price_number
say That is {result} {to}.
say {amount} {from} are {result} {to}.

@ convert
names convert_units unit_convert convert_unit
param value = value amount number quantity : amount | How much?
param from = from from_unit source : unit | From which unit?
param to = to to_unit target : unit | To which unit?
+ Convert {value} {from} to {to}.
+ How many {to} are {value} {from}?
+ What is {value} {from} in {to}?
+ Change {value} {from} into {to}.
+ {value} {from} to {to}
+ Give me {value} {from} in {to}.
+ I need {value} {from} as {to}.
+ {value} {from} in {to}, please.
- What do I get when {value} {from} are written in {to}?
- Express {value} {from} in {to}.
- The plan says {value} {from}; I think in {to}.
- Could you turn {value} {from} into {to} for me?
?to Convert {value} {from}.
!to Express {value} {from} differently.
result result=price_number
say That is {result} {to}.
say {value} {from} are {result} {to}.

@ translate
names translate_text translate translation
param text = text content phrase sentence : text | What should I translate?
param to = language target to target_language : langname ; lang lang_code to_code : langcode | Into which language?
+ Translate "{text}" into {to}.
+ Translate "{text}" to {to}.
+ How do you say "{text}" in {to}?
+ What is "{text}" in {to}?
+ Say "{text}" in {to}.
+ I need "{text}" in {to}.
+ Put "{text}" into {to}.
+ Translate into {to}: {text}
- My friend speaks only {to}; tell her "{text}"
- Give me the {to} version of "{text}"
- "{text}": what would that be in {to}?
- Write "{text}" the way {to} speakers do.
?to Translate "{text}"
!to What would "{text}" be in another language?
> Now in {to}.
< The same for {to} speakers.
result translation=text_field
say In {to}: {translation}
say {translation}

@ search
names web_search search_web search internet_search
param query = query q text terms : topic | What should I search for?
+ Search the web for {query}
+ Look up "{query}" online.
+ Search for {query}
+ Google {query}
+ Find information about {query}
+ Can you search the internet for "{query}"?
+ Web search: {query}
+ Look online for {query}
- What does the internet say about {query}
- I want to read about {query}
- See what you can find on "{query}"
- Browse for {query}
?query Search the web.
!query I want to read something online.
result results=several_field first=title_field
say I found {results} results, the first is {first}.
say {results} results; the first is {first}.

@ files
names open_file read_file show_file
param path = path file filename name : path | Which file?
+ Open {path}.
+ Open the file {path}.
+ Show me {path}.
+ Read the file {path}.
+ What is in {path}?
+ Can you open {path}?
+ Display the file {path}.
+ Please show the content of {path}.
- Let me have a look at {path}.
- I'd like to see what {path} contains.
- Get {path} on the screen.
- Print out {path} for me.
?path Open a file.
!path Let me have a look at a file.
result lines=several_field
say {path} has {lines} lines.
say The file {path} has {lines} lines.

@ files
names delete_file remove_file erase_file
param path = path file filename name : path | Which file?
+ Delete {path}.
+ Delete the file {path}.
+ Remove {path}.
+ Please remove the file {path}.
+ Can you delete {path}?
+ Erase the file {path}.
+ I don't need {path} any more, delete it.
+ Throw away {path}.
- Get rid of {path}.
- {path} can go.
- Make {path} disappear.
- I never want to see {path} again.
?path Delete a file.
!path One of my files can go.
result status=ok
say {path} is deleted.
say I deleted {path}.

@ files
names rename_file move_file file_rename
param old = old from source path : path | Which file?
param new = new to target new_name : path | What is the new name?
+ Rename {old} to {new}.
+ Move {old} to {new}.
+ Change the name of {old} to {new}.
+ Rename the file {old} to {new}.
+ The file {old} should be called {new}.
+ Can you move the file {old} to {new}?
+ Please rename {old} into {new}.
+ {old} gets the new name {new}.
- From now on, {old} is {new}.
- Give {old} the name {new}.
- Make {new} out of {old}.
- I'd rather have {old} under {new}.
?new Rename {old}.
!new Give {old} another name.
result status=ok
say {old} is now {new}.
say I renamed {old} to {new}.

@ ticket
names create_ticket open_ticket report_issue new_ticket
param title = title summary subject problem : text | What is the problem?
param priority? = priority urgency severity : level
+ Open a[ {priority} priority] ticket: {title}
+ Create a[ {priority} priority] ticket "{title}"
+ New ticket[ with {priority} priority]: {title}
+ Report the issue "{title}"[ with {priority} priority].
+ File a ticket[ with priority {priority}] titled "{title}"
+ Can you open a[ {priority} priority] ticket called "{title}"?
+ Make a[ {priority} priority] ticket saying "{title}"
+ Please create the ticket "{title}"[, priority {priority}].
- Support should look at this[ with {priority} priority]: {title}
- Something is wrong[ ({priority} priority)]: {title}
- Get "{title}" in front of the help desk[, priority {priority}].
- Log this problem[ as {priority}]: {title}
?title Open a ticket.
!title Something is wrong, tell the help desk.
result id=orderid_field
say Ticket {id} is open.
say I opened ticket {id}.

@ ticket
names ticket_status get_ticket check_ticket
param id = id ticket ticket_id number : orderid | What is the ticket number?
+ What is the status of ticket {id}?
+ Check ticket {id}.
+ Show me ticket {id}.
+ How is ticket {id} going?
+ Is ticket {id} solved?
+ Look up ticket {id}.
+ Status of ticket {id}, please.
+ Any news on ticket {id}?
- Did anybody work on ticket {id}?
- Where do we stand with ticket {id}?
- I'm still waiting for ticket {id}.
- Has ticket {id} moved?
?id Check my ticket.
!id Did anybody work on my ticket?
result status=ticketstatus owner=person_field
say Ticket {id} is {status}, owned by {owner}.
say {owner} has ticket {id}; it is {status}.

@ order
names track_order order_status get_order where_is_order
param id = id order order_id number : orderid | What is the order number?
+ Where is my order {id}?
+ Track order {id}.
+ What is the status of order {id}?
+ Check the order {id}.
+ When does order {id} arrive?
+ Has order {id} shipped?
+ Look up order {id}.
+ Order {id}: where is it?
- I'm still waiting for the parcel {id}.
- How long until the parcel {id} gets here?
- Is the parcel {id} on its way?
- Something I bought, {id}, has not come yet.
?id Where is my order?
!id My parcel has not come yet.
> And order {id}?
< The other parcel is {id}.
result status=orderstatus arrives=date_field
say Order {id} is {status} and arrives on {arrives}.
say {id}: {status}, arriving {arrives}.

@ order
names order_pizza order_food food_order
param dish = dish item product food : item | What would you like?
param size? = size format portion : size
param count? = count quantity amount : count
+ Order[ {count}][ {size}] {dish}.
+ I'd like to order[ {count}][ {size}] {dish}.
+ Get me[ {count}][ {size}] {dish} delivered.
+ Can you order[ {count}][ {size}] {dish}?
+ Please order[ {count}][ {size}] {dish} for me.
+ Order for delivery:[ {count}][ {size}] {dish}
+ I want[ {count}][ {size}] {dish} delivered.
+ Place an order for[ {count}][ {size}] {dish}.
- Let someone bring me[ {count}][ {size}] {dish}.
- For lunch, have[ {count}][ {size}] {dish} sent here.
- My order is[ {count}][ {size}] {dish}.
- I could eat[ {count}][ {size}] {dish}, have it brought.
?dish Order some food.
!dish Have something to eat brought here.
result id=orderid_field minutes=minutes_field
say Order {id} will be there in {minutes} minutes.
say {id} arrives in {minutes} minutes.

@ bank
names transfer_money send_money bank_transfer pay
param to = to recipient payee name : person | To whom?
param amount = amount sum value : amount | How much?
param currency = currency unit money : currency | In which currency?
+ Transfer {amount} {currency} to {to}.
+ Send {amount} {currency} to {to}.
+ Pay {to} {amount} {currency}.
+ I want to send {to} {amount} {currency}.
+ Can you transfer {amount} {currency} to {to}?
+ Wire {amount} {currency} to {to}.
+ Please pay {amount} {currency} to {to}.
+ {to} gets {amount} {currency} from me.
- I owe {to} {amount} {currency}.
- Settle my debt of {amount} {currency} with {to}.
- {amount} {currency} should reach {to}.
- Move {amount} {currency} over to {to}.
?to Transfer {amount} {currency}.
!to I owe someone {amount} {currency}.
result id=orderid_field balance=price_number
say Transfer {id} to {to} is done.
say {to} got the money; the transfer is {id}.

@ bank
names get_balance account_balance check_balance
param account = account iban account_id number : orderid | Which account?
+ What is the balance of account {account}?
+ How much money is on account {account}?
+ Show the balance of {account}.
+ Check account {account}.
+ Balance of {account}?
+ Tell me the balance of account {account}.
+ How much is left on account {account}?
+ Give me the account balance for {account}.
- Am I still in the black on account {account}?
- What is sitting in account {account}?
- Is there enough on account {account}?
- I'd like to know how rich account {account} is.
?account What is my balance?
!account Am I still in the black?
result balance=price_number currency=currencycode
say Account {account} holds {balance} {currency}.
say There are {balance} {currency} on account {account}.

@ stock
names get_stock_price stock_quote share_price
param symbol = symbol ticker stock code : ticker | Which stock?
+ What is the price of {symbol}?
+ How is the {symbol} stock doing?
+ Stock price of {symbol}?
+ Give me a quote for {symbol}.
+ What does {symbol} trade at?
+ Check the stock {symbol}.
+ How much is one share of {symbol}?
+ Show me the share price of {symbol}.
- Is {symbol} up or down?
- What are people paying for {symbol} shares?
- I own {symbol}; what is it worth?
- How does the market value {symbol}?
?symbol What is the stock price?
!symbol Are my shares up or down?
> And {symbol}?
< I also own {symbol}.
result price=price_number change=change
say {symbol} trades at {price}, {change} percent today.
say {symbol}: {price} ({change} percent).

@ book
names find_book search_books book_lookup
param title = title book name : title | Which book?
param author? = author writer by : person
+ Find the book "{title}"[ by {author}].
+ Do you have {title}[ by {author}]?
+ Look up the book {title}[ by {author}].
+ Search the library for "{title}"[ by {author}].
+ I'm looking for the book "{title}"[ by {author}].
+ Is "{title}"[ by {author}] in the library?
+ Book: {title}[ by {author}]
+ Can I borrow {title}[ by {author}]?
- I'd love to read "{title}"[, written by {author}].
- Which shelf has "{title}"[ by {author}]?
- The library might have "{title}"[ by {author}], check that.
- Is a copy of {title}[ by {author}] around?
?title Find a book[ by {author}].
!title Is there something to read[ by {author}]?
result shelf=orderid_field copies=several_field
say {title} is on shelf {shelf}, {copies} copies.
say Shelf {shelf} has {copies} copies of {title}.
"""

TABLE = HOME + TIME + PEOPLE + TRAVEL + WORK
